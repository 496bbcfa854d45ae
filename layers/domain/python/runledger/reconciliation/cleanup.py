"""Cleaning an orphan exactly once, and never one that lives.

    look at everything again ── claim ── take it off GitHub ── stop it ── cleaned
           │ it lives: acquit              │ busy: release

GitHub takes no runner away that is busy, and gives none a job that it has not: so once it is off GitHub, nothing can
begin on it. Whoever is killed in between leaves a lease; the next one looks at everything again and goes on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from runledger.model import times
from runledger.model.errors import RegisteredElsewhere, UnavailableError
from runledger.model.job import Job
from runledger.model.ownership import is_visible_to
from runledger.model.runner import Runner, RunnerStatus
from runledger.reconciliation.orphans import Reason, suspicion
from runledger.reconciliation.owners import Owners
from runledger.runners.fleet import Fleet
from runledger.runners.instances import Instance
from runledger.runners.tracker import Runners
from runledger.tables.cleanups import LEASE_SECONDS, CleanupLocks
from runledger.tables.jobs import JobsTable

# A cleaner that was paused for longer may not be the owner any more by the time that it stops the machine.
SURE_OF_LEASE_SECONDS = LEASE_SECONDS - 60


class Cleaned(StrEnum):
    CLEANED = "cleaned"
    FORGOTTEN = "forgotten"  # the machine was gone already: only our table is cleaned
    ALIVE = "alive"
    CONTESTED = "contested: its runner is registered with another installation"
    NOT_SUSPECTED = "not suspected"
    SOMEBODY_ELSES = "being cleaned by somebody else"


class Registrations(Protocol):
    """As runledger_github has it."""

    def begin(self) -> None:
        """What was listed before is out of date."""

    def search(self, installation_ids: Sequence[int], *, may_ask: Callable[[int], bool]) -> None:
        """Lists their runners; an UnavailableError where one of the installations cannot tell."""

    def remove(
        self, runner: Runner, job: Job | None, *, installation_ids: Sequence[int], may_ask: Callable[[int], bool]
    ) -> bool:
        """False while GitHub reports it as busy; an UnavailableError where one of the installations cannot answer.

        RegisteredElsewhere, before anything is removed, if a registration is not with the runner's own installation.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The installations whose runners were listed, and whether GitHub may be called about one of them."""

    installation_ids: Sequence[int]
    may_ask: Callable[[int], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleanup:
    runners: Runners
    locks: CleanupLocks
    jobs: JobsTable
    fleet: Fleet
    owners: Owners
    registrations: Registrations | None
    grace_seconds: int
    now: Callable[[], str]

    def begin(self) -> None:
        """A pass, or a person's order: what GitHub listed before is out of date."""
        if self.registrations is not None:
            self.registrations.begin()

    def clean(
        self,
        runner_id: str,
        *,
        owner: str,
        may_ask: Callable[[int], bool] = lambda _: True,
        installations: frozenset[int] | None = None,
    ) -> Cleaned:
        """The same checks and the same lock for a person and a pass.

        `may_ask` tells whether GitHub may be called; `installations` are those that a person is limited to.
        """
        runner = self.runners.table.get(runner_id)
        if runner is None or not _may_be_cleaned(runner) or not is_visible_to(runner, installations):
            return Cleaned.NOT_SUSPECTED
        suspected_at = runner.suspected_at or "never"  # whoever took it while it was being cleaned has cleared it
        job = self._job(runner)
        instance = self.fleet.describe([runner_id]).get(runner_id)
        at = self.now()
        reason = self.suspicion(runner, job, instance, now=at)
        if reason is None and runner.status is RunnerStatus.ACTIVE:
            self.runners.table.acquit(runner_id, suspected_at=suspected_at)
            return Cleaned.ALIVE
        search: Search | None = None
        if reason is not None and reason.is_alive:
            # Before the lock is taken: listing the runners of many repositories takes longer than a lease.
            assert instance is not None
            search = self._search(runner, instance, may_ask)
        since = self.now()  # the lease begins after the search, which may take longer than a lease
        if not self.locks.claim(runner_id, suspected_at=suspected_at, owner=owner, at=since):
            return Cleaned.SOMEBODY_ELSES
        if search:
            # The search may have taken minutes, in which somebody may have marked the machine to be kept.
            instance = self.fleet.describe([runner_id]).get(runner_id)
            reason = self.suspicion(runner, job, instance, now=at)
        if reason is None or not self._is_unchanged(runner):
            self.locks.release(runner_id, owner=owner, acquitted=True)
            return Cleaned.ALIVE
        if not reason.is_alive:
            self.runners.cleaned(runner_id, at=at, reason=f"reconciled: {reason}")
            return Cleaned.FORGOTTEN
        assert instance is not None
        assert search is not None
        remove = lambda: self._remove(runner, job, search)  # noqa: E731
        return self._stop(runner, instance, reason, owner=owner, since=since, remove=remove)

    def suspicion(
        self, runner: Runner | None, job: Job | None, instance: Instance | None, *, now: str
    ) -> Reason | None:
        if instance is None and (runner is None or not self.runners.is_in_scope(runner)):
            return None  # out of scope: neither alive nor gone
        ours = instance is not None and self.fleet.is_ours(instance)
        return suspicion(runner, job, instance, ours=ours, now=now, grace_seconds=self.grace_seconds)

    def _stop(
        self,
        runner: Runner,
        instance: Instance,
        reason: Reason,
        *,
        owner: str,
        since: str,
        remove: Callable[[], bool],
    ) -> Cleaned:
        runner_id = runner.runner_id
        try:
            if not remove() or not self._is_unchanged(runner):
                self.locks.release(runner_id, owner=owner, acquitted=True)
                return Cleaned.ALIVE
            if times.ms_between(since, self.now()) > SURE_OF_LEASE_SECONDS * times.MS_PER_SECOND:
                return Cleaned.SOMEBODY_ELSES
            self.fleet.stop(instance, reason=f"runledger: {reason}")
        except RegisteredElsewhere as elsewhere:
            self._contest(runner, by=elsewhere.installation_id)
            self.locks.release(runner_id, owner=owner, acquitted=True)
            return Cleaned.CONTESTED
        except Exception:
            self.locks.release(runner_id, owner=owner, acquitted=False)
            raise
        # Not later than EC2's or ECS's own report of the end, which is then no correction.
        self.runners.cleaned(runner_id, at=since, reason=f"orphan: {reason}")
        return Cleaned.CLEANED

    def _remove(self, runner: Runner, job: Job | None, search: Search) -> bool:
        assert self.registrations is not None  # it was searched
        return self.registrations.remove(runner, job, installation_ids=search.installation_ids, may_ask=search.may_ask)

    def _contest(self, seen: Runner, *, by: int) -> None:
        at = self.now()
        contested = {"contested_at": at, "contested_by": by, "suspected_at": None, "suspected_reason": None}

        def contest(runner: Runner) -> Runner:
            changed = runner.contested_at or runner.installation_id != seen.installation_id
            return runner if changed else runner.owned(**contested)

        self.runners.table.change(seen.runner_id, at=at, change=contest)

    def _is_unchanged(self, seen: Runner) -> bool:
        """The search may take minutes: meanwhile the machine may have got a job, another owner, or two."""
        current = self.runners.table.get(seen.runner_id)
        if current is None or current.contested_at:
            return False
        return (current.installation_id, current.proven_by, current.job_id) == (
            seen.installation_id,
            seen.proven_by,
            seen.job_id,
        )

    def _search(self, runner: Runner, instance: Instance, may_ask: Callable[[int], bool]) -> Search:
        if self.registrations is None:
            raise UnavailableError("without a GitHub App nothing tells whether the runner is busy")
        installation_ids = self.owners.to_search(runner, instance.tags)
        self.registrations.search(installation_ids, may_ask=may_ask)
        return Search(installation_ids=installation_ids, may_ask=may_ask)

    def _job(self, runner: Runner) -> Job | None:
        if runner.installation_id is None or runner.job_id is None:
            return None
        return self.jobs.get(runner.installation_id, runner.job_id, consistent=True)


def _may_be_cleaned(runner: Runner) -> bool:
    if runner.status is RunnerStatus.ACTIVE:
        return runner.suspected_at is not None
    return runner.status is RunnerStatus.CLEANING
