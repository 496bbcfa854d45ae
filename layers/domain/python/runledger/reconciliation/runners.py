"""Active runners and tagged machines: an orphan is suspected in one pass and cleaned up in a later one."""

from collections.abc import Mapping
from typing import Any

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.errors import UnavailableError
from runledger.model.instance import Instance
from runledger.model.job import Job
from runledger.model.ownership import named_owner
from runledger.model.runner import Runner, RunnerStatus
from runledger.model.suspicion import Cleared, Reason
from runledger.reconciliation.cleanup import Cleanup, CleanupOutcome
from runledger.reconciliation.orphans import Waits, is_cleared, lives
from runledger.reconciliation.owners import Owners
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.tally import Count, Tally
from runledger.runners.fleet import Fleet, kind_of
from runledger.runners.tracker import RunnerTracker
from runledger.tables.cleanups import lease_expired_before
from runledger.tables.jobs import JobsTable

# Counted from the end of the grace period.
OVERDUE_SECONDS = 600
TERMINATED_FOR = [reason for reason in Reason if reason.machine_is_running]


def report_outcome(runner_id: str, outcome: CleanupOutcome, tally: Tally, *, reason: str | None = None) -> None:
    """Counts only terminated machines, whether a person or a scheduled pass cleans up."""
    finding = f"runner {runner_id}: {reason}; {outcome}" if reason else f"runner {runner_id}: {outcome}"
    if outcome is CleanupOutcome.CLEANED:
        tally.report(Count.CLEANED, finding)
    else:
        tally.findings.append(finding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A runner in the ledger, a machine, or both."""

    runner_id: str
    runner: Runner | None
    job: Job | None
    instance: Instance | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerCheck:
    """Running machines are terminated only if `enforce` is set. Otherwise they are only suspected and reported.

    Runners whose machine has ended or is stopped are always cleaned.
    """

    cleanup: Cleanup
    tracker: RunnerTracker
    jobs: JobsTable
    fleet: Fleet
    owners: Owners
    waits: Waits
    enforce: bool

    def check(self, current: Pass) -> bool:
        """False if time ran out."""
        table = self.tracker.table
        self.cleanup.begin()
        runners = {each.runner_id: each for each in table.in_status(RunnerStatus.ACTIVE)}
        instances = self.fleet.describe(runners)
        if current.is_full:
            instances |= self.fleet.terminable()  # also machines that the ledger doesn't have
        jobs = self._jobs(runners)
        # Being cleaned up, or cleaned: EC2 lists an instance for an hour after its end.
        inactive = table.among(instances.keys() - runners.keys())
        self._count(runners, instances, current.tally)
        crashed = self._crashed_cleanups(current)
        # Nothing stores when a runner was checked, so the order differs in each pass.
        for runner_id in sorted(crashed.keys() | ({*runners, *instances} - inactive.keys()), key=current.shuffle_key):
            if current.out_of_time():
                return False
            runner = runners.get(runner_id)
            job = jobs.get((runner.installation_id or 0, runner.job_id or 0)) if runner else None
            with current.tally.isolated(f"runner {runner_id}"):
                if runner_id in crashed:
                    self._count_overdue(crashed[runner_id], current)
                    self._clean(runner_id, crashed[runner_id].suspected_reason, current)
                    continue
                instance = instances.get(runner_id)
                self._examine(Candidate(runner_id=runner_id, runner=runner, job=job, instance=instance), current)
        return True

    def _count(self, runners: Mapping[str, Runner], instances: Mapping[str, Instance], tally: Tally) -> None:
        counted = {each.runner_id for each in runners.values() if self._is_counted(each, instances)}
        alive = {runner_id for runner_id, each in instances.items() if lives(each)}
        tally.add(Count.RUNNERS, len(counted))
        tally.add(Count.INSTANCES, len({each for each in alive if each in counted or each not in runners}))

    def _examine(self, candidate: Candidate, current: Pass) -> None:
        runner_id, runner, now = candidate.runner_id, candidate.runner, current.now
        if runner is not None and runner.contested_at:
            claimants = f"installations {runner.installation_id} and {runner.contested_by}"
            current.tally.report(Count.CONTESTED, f"runner {runner_id}: contested by {claimants}; not changed")
        if runner is not None and candidate.instance is not None and runner.confirmed_at is None:
            self.tracker.record_confirmed(candidate.instance, at=now)
        reason = self._check(candidate, current)
        suspected_at = runner.suspected_at if runner else None
        if isinstance(reason, Cleared):
            if suspected_at:
                self.tracker.table.clear_suspicion(runner_id, suspected_at=suspected_at, at=now, found=reason)
            self._list_unknown_work(candidate, reason, current)
            return
        self._count_orphan(runner, reason, current)
        if runner is None or suspected_at is None or runner.suspected_reason != reason:
            self._suspect(candidate, reason, current)
            return
        due = suspected_at <= times.earlier(now, seconds=self.waits.grace_seconds)
        if due and (self.enforce or not reason.machine_is_running):
            self._clean(runner_id, reason, current)

    def _check(self, candidate: Candidate, current: Pass) -> Reason | Cleared:
        """If GitHub doesn't respond, a suspected runner stays suspected, and may be overdue."""
        runner = candidate.runner
        try:
            return self.cleanup.check(runner, candidate.job, candidate.instance, current, now=current.now)
        except UnavailableError:
            if runner is not None and runner.suspected_reason in TERMINATED_FOR:
                self._count_orphan(runner, Reason(runner.suspected_reason), current)
            raise

    def _count_orphan(self, runner: Runner | None, reason: Reason, current: Pass) -> None:
        current.tally.add(Count.ORPHANS if reason.machine_is_running else Count.STALE)
        if runner and reason.machine_is_running:
            self._count_overdue(runner, current)

    def _count_overdue(self, runner: Runner, current: Pass) -> None:
        """Also for a crashed cleanup that is tried again: GitHub may not respond for hours."""
        overdue = times.earlier(current.now, seconds=self.waits.grace_seconds + OVERDUE_SECONDS)
        if runner.suspected_reason in TERMINATED_FOR and (runner.suspected_at or current.now) <= overdue:
            current.tally.add(Count.OVERDUE)

    def _list_unknown_work(self, candidate: Candidate, cleared: Cleared, current: Pass) -> None:
        """A runner that was busy on GitHub is listed until it is checked again, or its job is recorded."""
        runner, works = candidate.runner, f"runner {candidate.runner_id}: works on a job that isn't in the ledger"
        if cleared is Cleared.BUSY:
            current.tally.findings.append(f"{works}; not changed")
        elif (
            runner is not None
            and runner.suspicion_cleared_reason == Cleared.BUSY
            and lives(candidate.instance)
            and is_cleared(runner, now=current.now, waits=self.waits)
        ):
            current.tally.findings.append(f"{works}: busy on GitHub at {runner.suspicion_cleared_at}")

    def _suspect(self, candidate: Candidate, reason: Reason, current: Pass) -> None:
        runner_id, runner, instance, now = candidate.runner_id, candidate.runner, candidate.instance, current.now
        about: dict[str, Any] = {}
        table = self.tracker.table
        if instance:
            about = {"pool_name": instance.pool_name, "created_at": instance.launched_at or now, "confirmed_at": now}
            about |= {"account_id": instance.account_id, "region": instance.region}
            if (owner := self.owners.named_by(instance.tags)) is not None:
                name = named_owner(instance.tags)
                self.tracker.prove(runner_id, installation_id=owner, owner_name=name, at=now)
        if reason.machine_is_running and runner and runner.suspected_reason in TERMINATED_FOR:
            # It is still the same orphan: only the reason has changed, for example because its job was cancelled.
            about["since"] = runner.suspected_at
        suspected = table.suspect(runner_id, at=now, reason=reason, kind=kind_of(runner_id), **about)
        if suspected and reason.machine_is_running:
            current.tally.suspected.append(suspected)
            current.tally.report(Count.DETECTED, f"runner {runner_id}: {reason}; suspected")

    def _clean(self, runner_id: str, reason: str | None, current: Pass) -> None:
        outcome = self.cleanup.clean(runner_id, current)
        report_outcome(runner_id, outcome, current.tally, reason=reason)

    def _crashed_cleanups(self, current: Pass) -> dict[str, Runner]:
        """Their leases have expired, so this pass finishes them."""
        expired = lease_expired_before(current.now)
        cleaning = self.tracker.table.in_status(RunnerStatus.CLEANING)
        return {each.runner_id: each for each in cleaning if (each.cleaning_since or "") <= expired}

    def _is_counted(self, runner: Runner, instances: Mapping[str, Instance]) -> bool:
        """EC2 reports every instance of the account.

        An instance without a job and without runner tags belongs to another application.
        """
        if runner.job_id is not None or runner.intended_job_id is not None:
            return True
        instance = instances.get(runner.runner_id)
        return instance is not None and self.fleet.has_runner_tags(instance)

    def _jobs(self, runners: Mapping[str, Runner]) -> dict[tuple[int, int], Job]:
        wanted = [
            (each.installation_id, each.job_id)
            for each in runners.values()
            if each.installation_id is not None and each.job_id is not None
        ]
        return self.jobs.among(wanted)
