"""The worlds of the whole system find bugs: each one planted here breaks a rule, and one of the first worlds shows it.

README.md lists how many worlds each took.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from runledger.model import job_machine, stuck
from runledger.model.job import Job
from runledger.recording import decision
from runledger.runners.reruns import Reruns
from runledger.webhooks.retry_queue import RetryQueue

from tests.simulation.reconciler import test_planted_bugs as of_the_reconciler
from tests.simulation.system.random_systems import system_world
from tests.simulation.system.world import SystemWorld
from tests.simulation.test_planted_bugs import StateBeforeHistory, Tampered, UnconditionalJobs, UnguardedCounters

README = Path(__file__).parents[1] / "README.md"
Plant = Callable[[pytest.MonkeyPatch], None]


def tampered(bug: type[Tampered]) -> Plant:
    def plant(patch: pytest.MonkeyPatch) -> None:
        client = SystemWorld.client

        def made(world: SystemWorld, name: str) -> Any:
            return bug(client(world, name)) if name == "dynamodb" else client(world, name)

        patch.setattr(SystemWorld, "client", made)

    return plant


def redelivery_as_new(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(decision, "_is_duplicate", lambda *_: False)


def late_events_move_the_state(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Job, "_is_reached_by", lambda _, receipt: receipt.status is not None)


def cost_of_two_machines(patch: pytest.MonkeyPatch) -> None:
    """A new machine replaces only those facts that are known about it."""
    patch.setattr(job_machine, "_without_machine", lambda _: {})


def accepted_and_forgotten(patch: pytest.MonkeyPatch) -> None:
    """While DynamoDB doesn't respond, a delivery is accepted and not queued."""
    patch.setattr(RetryQueue, "put", lambda *_: None)


def every_failure_is_re_run(patch: pytest.MonkeyPatch) -> None:
    def request(self: Reruns, check: Any, rerun: Any) -> Any:
        return self._call(check, rerun, self.github(check.installation_id))

    patch.setattr(Reruns, "_request", request)


def pauses_are_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(stuck, "request_is_due", lambda job, **_: job.status in ("queued", "scheduled"))


BUGS: dict[str, tuple[Plant, str]] = {
    "state before history": (tampered(StateBeforeHistory), "before its history event"),
    "unconditional update": (tampered(UnconditionalJobs), ""),
    "counter without guard": (tampered(UnguardedCounters), "_jobs is"),
    "late event moves the state": (late_events_move_the_state, " and is "),
    "redelivery as new": (redelivery_as_new, "counts as new"),
    "accepted and forgotten": (accepted_and_forgotten, "is not in the history"),
    "cost of two machines": (cost_of_two_machines, " has "),
    "cleanup without a check": (of_the_reconciler.busy_is_ignored, "was running on it"),
    "lease ignored": (of_the_reconciler.lease_is_ignored, "was stopped twice"),
    "foreign machine terminated": (of_the_reconciler.tags_are_ignored, "is not ours"),
    "young machine terminated": (of_the_reconciler.young_machines_are_suspected, "after its launch"),
    "every failure re-run": (every_failure_is_re_run, "was re-run"),
    "pauses between requests ignored": (pauses_are_ignored, "was requested at"),
}
AT_MOST = 100


def worlds_until_found(name: str, patch: pytest.MonkeyPatch, first: int = 1) -> int | None:
    """Counted from 1. Begins with the `first`, and comes to those before it last."""
    plant, expected = BUGS[name]
    plant(patch)
    worlds: tuple[int, ...] = (*range(first, AT_MOST + 1), *range(1, first))
    for number in worlds:
        if any(expected in line for line in system_world(1, number - 1).violations):
            return number
    return None


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = re.search(rf"^\| {name} \| .* \| (\d+) \|$", README.read_text(), re.MULTILINE)
    assert listed, f"add `{name}` to the table of README.md, with the number of worlds that it takes"
    assert worlds_until_found(name, monkeypatch, first=int(listed[1])) is not None
