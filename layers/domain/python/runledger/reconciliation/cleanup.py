"""Cleans up an orphan exactly once, and never a machine that is in use.

    check everything again ── lease ── remove it from GitHub ── terminate it ── cleaned
           │ in use: clear the suspicion       │ busy: release the lease, clear the suspicion

GitHub refuses to remove a busy runner, and assigns no job to a removed one. So after the removal no job can start on
the machine. If a cleanup crashes, its lease expires, and the next cleanup checks everything again and continues.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.errors import RegisteredElsewhere, UnavailableError
from runledger.model.instance import Instance
from runledger.model.job import Job
from runledger.model.ownership import is_visible_to, named_owner
from runledger.model.runner import Runner, RunnerStatus
from runledger.model.suspicion import Cleared, Reason, RegistrationState
from runledger.reconciliation.awaited_runners import AwaitedRunners
from runledger.reconciliation.orphans import Waits, orphan_reason
from runledger.reconciliation.owners import Owners
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.registrations import MachineSearch, Registrations
from runledger.runners.fleet import Fleet
from runledger.runners.tracker import RunnerTracker
from runledger.tables.cleanups import LEASE_SECONDS, CleanupLocks
from runledger.tables.jobs import JobsTable

# Later than this, the lease may end before the machine is terminated.
SAFE_LEASE_SECONDS = LEASE_SECONDS - 60
# What a machine's registration shows while its job still awaits a runner.
FOUND: Mapping[RegistrationState, Reason | Cleared] = {
    RegistrationState.NONE: Reason.NEVER_REGISTERED,
    RegistrationState.IDLE: Cleared.REGISTERED,
    RegistrationState.BUSY: Cleared.BUSY,
}


class CleanupOutcome(StrEnum):
    """Each value is the last part of a finding: `runner i-0123: no_job; cleaned: the machine was terminated`."""

    CLEANED = "cleaned: the machine was terminated"
    GONE = "cleaned: the machine was already gone"
    STOPPED = "cleaned: the machine is stopped, and was not changed"
    BUSY = "not cleaned: GitHub reports this runner as busy"
    REGISTERED = "not cleaned: this runner has registered with GitHub"
    IN_USE = "not cleaned: this runner is no longer an orphan"
    CONTESTED = "not cleaned: contested, because this runner is registered with another installation"
    NOT_SUSPECTED = "not cleaned: this runner isn't a suspected orphan"
    ANOTHER_CLEANUP = "not cleaned: another cleanup of this runner is running"
    ALREADY_CLEANED = "not cleaned: this runner was already cleaned"
    TOO_SLOW = "not cleaned: removing the runner from GitHub took too long; the next pass tries again"

    @property
    def result(self) -> str:
        """A sentence for the person who requested the cleanup."""
        return self.value[0].upper() + self.value[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphan:
    """A runner that is due for cleanup, as it was read, and the search for its registrations."""

    runner: Runner
    instance: Instance
    reason: Reason
    search: MachineSearch


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleanup:
    tracker: RunnerTracker
    locks: CleanupLocks
    jobs: JobsTable
    fleet: Fleet
    owners: Owners
    registrations: Registrations | None
    awaited: AwaitedRunners
    waits: Waits
    now: Callable[[], str]

    def begin(self) -> None:
        """Call this at the start of a pass or of a requested cleanup: earlier lists are outdated."""
        if self.registrations is not None:
            self.registrations.begin()

    def clean(self, runner_id: str, current: Pass, *, installations: frozenset[int] | None = None) -> CleanupOutcome:
        """Runs the same checks and takes the same lock for a person and for a scheduled pass.

        `installations` limits the person who requested it; None means all.
        """
        runner = self.tracker.table.get(runner_id)
        if runner is None or not _may_be_cleaned(runner) or not is_visible_to(runner, installations):
            return CleanupOutcome.NOT_SUSPECTED
        return self._resume(runner, current) if runner.is_ending else self._check_and_clean(runner, current)

    def _check_and_clean(self, runner: Runner, current: Pass) -> CleanupOutcome:
        runner_id = runner.runner_id
        suspected_at = runner.suspected_at
        job = self._job(runner)
        instance = self._describe(runner_id)
        at = self.now()
        found = self.check(runner, job, instance, current, now=at)
        if isinstance(found, Cleared) and runner.status is RunnerStatus.ACTIVE:
            assert suspected_at is not None  # see `_may_be_cleaned`
            self.tracker.table.clear_suspicion(runner_id, suspected_at=suspected_at, at=at, found=found)
            return CleanupOutcome[found.name]
        reason = found if isinstance(found, Reason) else None
        if reason is not None and reason.machine_is_running and runner.suspected_at is None:
            reason = None  # since the first cleanup began, a job was recorded on the runner
        search: MachineSearch | None = None
        if reason is not None and reason.machine_is_running:
            # Before the lock is taken: listing the runners of many repositories takes longer than a lease.
            assert instance is not None
            runner = replace(runner, owner_name=named_owner(instance.tags))
            search = self._search(runner, job, instance, current)
        since = self.now()  # the lease starts after the search
        if not self.locks.acquire(runner_id, suspected_at=suspected_at, owner=current.owner, at=since):
            return self._why_not_acquired(runner_id)
        if search is not None:
            # The search may have taken minutes. Since then, a tag may have been added that keeps the machine, or names
            # another owner.
            instance = self._describe(runner_id)
            reason = self.reason_without_github(runner, job, instance, now=at)
            if instance is not None and named_owner(instance.tags) != runner.owner_name:
                reason = None
        if reason is None or not self._is_unchanged(runner):
            self._release(runner_id, current, Cleared.IN_USE)
            return CleanupOutcome.IN_USE
        if not reason.machine_is_running:
            self.tracker.record_cleaned(runner_id, at=at, reason=f"reconciled: {reason}")
            return CleanupOutcome.STOPPED if reason is Reason.INSTANCE_STOPPED else CleanupOutcome.GONE
        assert instance is not None
        assert search is not None
        orphan = Orphan(runner=runner, instance=instance, reason=reason, search=search)
        return self._terminate(orphan, current, since=since)

    def _resume(self, ending: Runner, current: Pass) -> CleanupOutcome:
        """The machine's end is already known, so nothing is checked again."""
        runner_id = ending.runner_id
        if not self.locks.acquire(runner_id, suspected_at=None, owner=current.owner, at=self.now()):
            return self._why_not_acquired(runner_id)
        self.tracker.resume_cleanup(ending)
        return CleanupOutcome.GONE

    def reason_without_github(
        self, runner: Runner | None, job: Job | None, instance: Instance | None, *, now: str
    ) -> Reason | None:
        if instance is None and (runner is None or not self.tracker.is_confirmed_in_scope(runner)):
            return None  # out of scope: neither alive nor gone
        may_terminate = instance is not None and self.fleet.may_terminate(instance)
        return orphan_reason(runner, job, instance, may_terminate=may_terminate, now=now, waits=self.waits)

    def check(
        self, runner: Runner | None, job: Job | None, instance: Instance | None, current: Pass, *, now: str
    ) -> Reason | Cleared:
        """Why the runner is an orphan, or why it isn't. GitHub is asked only if the machine may be unregistered."""
        reason = self.reason_without_github(runner, job, instance, now=now)
        if reason is not Reason.NEVER_REGISTERED:
            return reason or Cleared.IN_USE
        assert runner is not None
        assert job is not None
        assert instance is not None
        found = self.awaited.registration(runner, job, instance, current)
        return Cleared.IN_USE if found is None else FOUND[found]

    def _release(self, runner_id: str, current: Pass, found: Cleared | None) -> None:
        self.locks.release(runner_id, owner=current.owner, at=self.now(), found=found)

    def _terminate(self, orphan: Orphan, current: Pass, *, since: str) -> CleanupOutcome:
        """`since` is when the lease started."""
        runner_id = orphan.runner.runner_id
        try:
            if not self._remove(orphan):
                self._release(runner_id, current, Cleared.BUSY)
                return CleanupOutcome.BUSY
            if not self._is_unchanged(orphan.runner):
                self._release(runner_id, current, Cleared.IN_USE)
                return CleanupOutcome.IN_USE
            if times.ms_between(since, self.now()) > SAFE_LEASE_SECONDS * times.MS_PER_SECOND:
                # Another cleanup may hold the lease by now. Otherwise, the next pass claims it again.
                return CleanupOutcome.TOO_SLOW
            self.fleet.terminate(orphan.instance, reason=f"runledger: {orphan.reason}")
        except RegisteredElsewhere as elsewhere:
            self._contest(orphan.runner, by=elsewhere.installation_id)
            self._release(runner_id, current, Cleared.IN_USE)
            return CleanupOutcome.CONTESTED
        except Exception:
            self._release(runner_id, current, None)
            raise
        # Dated before the EC2 or ECS event about this end, which then changes nothing.
        self.tracker.record_cleaned(runner_id, at=since, reason=f"orphan: {orphan.reason}")
        if suspected_at := orphan.runner.suspected_at:
            latency = times.ms_between(suspected_at, self.now()) / times.MS_PER_SECOND
            current.tally.terminated.append((orphan.runner, latency))
        return CleanupOutcome.CLEANED

    def _remove(self, orphan: Orphan) -> bool:
        assert self.registrations is not None  # checked by `_search`
        return self.registrations.remove(orphan.search)

    def _why_not_acquired(self, runner_id: str) -> CleanupOutcome:
        """A claim also fails if the runner got a job during the search, which clears the suspicion."""
        found = self.tracker.table.get(runner_id)
        if found is None or found.status is RunnerStatus.CLEANED:
            return CleanupOutcome.ALREADY_CLEANED
        cleaning = found.status is RunnerStatus.CLEANING
        return CleanupOutcome.ANOTHER_CLEANUP if cleaning else CleanupOutcome.IN_USE

    def _contest(self, seen: Runner, *, by: int) -> None:
        at = self.now()

        def contest(runner: Runner) -> Runner:
            changed = runner.contested_at or runner.installation_id != seen.installation_id
            return runner if changed else runner.contested(at, by=by)

        self.tracker.table.change(seen.runner_id, at=at, change=contest)

    def _is_unchanged(self, seen: Runner) -> bool:
        """During the search, which may take minutes, the machine may get a job or another owner, or be contested."""
        found = self.tracker.table.get(seen.runner_id)
        if found is None or found.contested_at:
            return False
        return (found.installation_id, found.proven_by, found.job_id) == (
            seen.installation_id,
            seen.proven_by,
            seen.job_id,
        )

    def _search(self, runner: Runner, job: Job | None, instance: Instance, current: Pass) -> MachineSearch:
        if self.registrations is None:
            raise UnavailableError("without a GitHub App, it is unknown whether the runner is busy")
        installation_ids = self.owners.to_search(runner, instance.tags)
        search = MachineSearch(runner=runner, job=job, installation_ids=installation_ids, may_ask=current.may_ask)
        self.registrations.search(search)
        self.registrations.search_again(search)
        return search

    def _describe(self, runner_id: str) -> Instance | None:
        return self.fleet.describe([runner_id]).get(runner_id)

    def _job(self, runner: Runner) -> Job | None:
        if runner.installation_id is None or runner.job_id is None:
            return None
        return self.jobs.get(runner.installation_id, runner.job_id, consistent=True)


def _may_be_cleaned(runner: Runner) -> bool:
    if runner.status is RunnerStatus.ACTIVE:
        return runner.suspected_at is not None
    return runner.status is RunnerStatus.CLEANING
