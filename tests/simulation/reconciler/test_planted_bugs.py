"""The worlds find bugs: each one planted here breaks a rule of the reconciler, and a few worlds show it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from runledger.model import stuck
from runledger.model.errors import UnavailableError
from runledger.model.inputs import Status
from runledger.model.suspicion import RegistrationState
from runledger.reconciliation import jobs, open_runs, orphans, runner_requests
from runledger.reconciliation.runner_requests import RunnerRequests
from runledger.reconciliation.runners import RunnerCheck
from runledger.runners import fleet
from runledger.tables.cleanups import CleanupLocks
from runledger.tables.runners import RunnersTable
from runledger_github.registrations import Registrations
from runledger_github.runner_lists import RunnerLists

from tests.simulation.reconciler.random_reconciliations import reconcile_world

Plant = Callable[[pytest.MonkeyPatch], None]


def found_nowhere_is_idle(patch: pytest.MonkeyPatch) -> None:
    """A scope that doesn't respond has no runners, and an installation that doesn't respond has no scopes."""

    def forgiving(get: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        def found(*arguments: Any, **options: Any) -> list[Any]:
            try:
                return get(*arguments, **options)
            except UnavailableError:
                return []

        return found

    patch.setattr(RunnerLists, "runners", forgiving(RunnerLists.runners))
    patch.setattr(RunnerLists, "scopes", forgiving(RunnerLists.scopes))


def one_404_closes(patch: pytest.MonkeyPatch) -> None:
    """Closes the job at once, permanently."""
    patch.setattr(jobs, "ABSENT_FOR_SECONDS", 0)
    patch.setattr(jobs, "CLOSED_COMPARED_AT_MOST", 0)


def busy_is_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Registrations, "remove", lambda *_, **__: True)


def lease_is_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(CleanupLocks, "acquire", lambda *_, **__: True)


def tags_are_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fleet, "has_tags", lambda *_: True)


def kept_machines_are_stopped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fleet, "must_stay", lambda *_: False)


def pauses_are_ignored(patch: pytest.MonkeyPatch) -> None:
    def is_due(job: Any, **_: Any) -> bool:
        return job.status in (Status.QUEUED, Status.SCHEDULED)

    patch.setattr(stuck, "request_is_due", is_due)


def each_pass_sends_its_request(patch: pytest.MonkeyPatch) -> None:
    """Also if another pass has recorded the same one."""
    request = RunnerRequests.request

    def again(self: RunnerRequests, job: Any, *, at: str) -> Any:
        decision = request(self, job, at=at)
        if decision is None:
            self._send(runner_requests._detail(job, (job.runner_requests or 0) + 1, "again", at))
        return decision

    patch.setattr(RunnerRequests, "request", again)
    # The pass judges the job that it read at its start.
    patch.setattr(jobs.JobCheck, "_request", lambda self, job, _, sweep: self.requests.request(job, at=sweep.now))


def finished_runs_hide_their_jobs(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(jobs, "gather", lambda _, runs: GATHER((), [each for each in runs if each["status"] != "completed"]))


def young_machines_are_suspected(patch: pytest.MonkeyPatch) -> None:
    def reason(runner: Any, job: Any, instance: Any, **about: Any) -> Any:
        return ORPHAN_REASON(runner, job, instance, **about | {"waits": replace(about["waits"], grace_seconds=0)})

    patch.setattr("runledger.reconciliation.cleanup.orphan_reason", reason)
    patch.setattr("runledger.reconciliation.runners.times.earlier", lambda at, **_: at)


def cleared_runners_are_suspected_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(orphans, "is_cleared", lambda *_, **__: False)


def registrations_are_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Registrations, "state_of", lambda *_: RegistrationState.NONE)


def unregistered_machines_are_left_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(orphans, "_unregistered", lambda *_, **__: None)


def a_living_machine_is_taken_for_gone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(jobs, "lives", lambda _: False)


def each_pass_counts_the_orphan(patch: pytest.MonkeyPatch) -> None:
    """Also one that another pass has made a suspect meanwhile."""
    suspect = RunnersTable.suspect

    def counted(self: RunnersTable, runner_id: str, **about: Any) -> Any:
        return suspect(self, runner_id, **about) or self.get(runner_id)

    patch.setattr(RunnersTable, "suspect", counted)


def overdue_is_not_counted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RunnerCheck, "_count_orphan", lambda *_: None)


GATHER, ORPHAN_REASON = open_runs.gather, orphans.orphan_reason
# The violation that each causes, and the world of seed 1 in which it showed first.
BUGS: dict[Plant, tuple[str, int]] = {
    found_nowhere_is_idle: ("was running on it", 116),
    busy_is_ignored: ("was running on it", 11),
    one_404_closes: ("on GitHub", 30),
    lease_is_ignored: ("was stopped twice", 653),
    tags_are_ignored: ("is not ours", 12),
    kept_machines_are_stopped: ("must be kept", 1),
    young_machines_are_suspected: ("seconds after its launch", 1),
    pauses_are_ignored: ("was requested at", 0),
    each_pass_sends_its_request: ("was requested at", 32),
    finished_runs_hide_their_jobs: ("on GitHub", 6),
    cleared_runners_are_suspected_at_once: ("after it was cleared", 2),
    registrations_are_ignored: ("and is online", 10),
    unregistered_machines_are_left_alone: ("is idle and was not stopped", 0),
    a_living_machine_is_taken_for_gone: ("is alive", 0),
    each_pass_counts_the_orphan: ("was counted more often", 80),
    overdue_is_not_counted: ("counted no overdue orphan", 9),
}
AT_MOST = 700  # that the lease is ignored shows only where two passes overlap in the middle of a cleanup


@pytest.mark.parametrize("plant", BUGS, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begins with that world. Other code may show it in another one."""
    expected, first = BUGS[plant]
    plant(monkeypatch)
    played = (reconcile_world(1, number) for number in (*range(first, AT_MOST), *range(first)))
    assert any(expected in line for each in played for line in each.violations)
