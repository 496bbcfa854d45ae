"""Runners that are active, and machines that are ours: an orphan is suspected now and cleaned in a later pass."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runledger.model import times
from runledger.model.job import Job
from runledger.model.ownership import named_owner
from runledger.model.runner import Runner, RunnerStatus
from runledger.reconciliation.bounds import Bounds
from runledger.reconciliation.cleanup import Cleaned, Cleanup
from runledger.reconciliation.orphans import Reason, lives
from runledger.reconciliation.tally import Count, Tally
from runledger.runners.fleet import kind_of
from runledger.runners.instances import Instance
from runledger.tables.cleanups import ran_out_at

OVERDUE_SECONDS = 600


def note_outcome(about: str, outcome: Cleaned, tally: Tally) -> None:
    """Counts the same for a pass and for a person: machines that were stopped."""
    if outcome is Cleaned.CLEANED:
        tally.find(Count.CLEANED, f"runner {about} stopped")
    else:
        tally.findings.append(f"runner {about} {outcome}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerCheck:
    """In `report` mode orphans are suspected and shown; only `enforce` cleans them."""

    cleanup: Cleanup
    enforce: bool

    def check(self, *, owner: str, unmapped_too: bool, now: str, bounds: Bounds, tally: Tally) -> bool:
        """False if time ran out."""
        table = self.cleanup.runners.table
        self.cleanup.begin()
        runners = {each.runner_id: each for each in table.in_status(RunnerStatus.ACTIVE)}
        instances = self.cleanup.fleet.describe(runners)
        if unmapped_too:
            instances |= self.cleanup.fleet.ours()
        jobs = self._jobs(runners)
        # Being cleaned, or gone: EC2 shows an instance for another hour.
        settled = table.among(instances.keys() - runners.keys())
        mapped = {each.runner_id for each in runners.values() if self._is_mapping(each, instances)}
        living = {runner_id for runner_id, each in instances.items() if lives(each)}
        tally.add(Count.RUNNERS, len(mapped))
        tally.add(Count.INSTANCES, len({each for each in living if each in mapped or each not in runners}))
        for runner_id in sorted({*runners, *instances} - settled.keys()):
            if bounds.out_of_time():
                return False
            runner = runners.get(runner_id)
            with tally.alone(f"runner {runner_id}"):
                job = jobs.get((runner.installation_id or 0, runner.job_id or 0)) if runner else None
                machine = instances.get(runner_id)
                self._look(runner_id, runner, job, machine, owner=owner, now=now, bounds=bounds, tally=tally)
        return self._finish(owner=owner, now=now, bounds=bounds, tally=tally)

    def _look(
        self,
        runner_id: str,
        runner: Runner | None,
        job: Job | None,
        instance: Instance | None,
        *,
        owner: str,
        now: str,
        bounds: Bounds,
        tally: Tally,
    ) -> None:
        if runner is not None and runner.contested_at:
            about = f"installations {runner.installation_id} and {runner.contested_by}"
            tally.find(Count.CONTESTED, f"runner {runner_id}: contested by {about}; left alone")
        if runner is not None and instance is not None and runner.confirmed_at is None:
            self.cleanup.runners.confirmed(instance, at=now)
        reason = self.cleanup.suspicion(runner, job, instance, now=now)
        suspected_at = runner.suspected_at if runner else None
        if reason is None:
            if suspected_at:
                self.cleanup.runners.table.acquit(runner_id, suspected_at=suspected_at)
            return
        tally.add(Count.ORPHANS if reason.is_alive else Count.STALE)
        if runner is None or suspected_at is None or runner.suspected_reason != reason:
            self._suspect(runner_id, instance, reason, now=now, tally=tally)
            return
        overdue = times.earlier(now, seconds=self.cleanup.grace_seconds + OVERDUE_SECONDS)
        if reason.is_alive and suspected_at <= overdue:
            tally.add(Count.OVERDUE)
        due = suspected_at <= times.earlier(now, seconds=self.cleanup.grace_seconds)
        if due and (self.enforce or not reason.is_alive):
            self._clean(runner_id, reason, owner=owner, bounds=bounds, tally=tally)

    def _suspect(self, runner_id: str, instance: Instance | None, reason: Reason, *, now: str, tally: Tally) -> None:
        about: dict[str, Any] = {}
        table = self.cleanup.runners.table
        if instance:
            about = {"pool_name": instance.pool_name, "created_at": instance.launched_at or now, "confirmed_at": now}
            about |= {"account_id": instance.account_id, "region": instance.region}
            if (owner := self.cleanup.owners.named_by(instance.tags)) is not None:
                name = named_owner(instance.tags)
                self.cleanup.runners.prove(runner_id, installation_id=owner, owner_name=name, at=now)
        if table.suspect(runner_id, at=now, reason=reason, kind=kind_of(runner_id), **about) and reason.is_alive:
            tally.find(Count.DETECTED, f"runner {runner_id}: {reason}; suspected")

    def _clean(self, runner_id: str, reason: str, *, owner: str, bounds: Bounds, tally: Tally) -> None:
        may_ask = lambda installation_id: bounds.may_ask(installation_id) and not bounds.out_of_time()  # noqa: E731
        outcome = self.cleanup.clean(runner_id, owner=owner, may_ask=may_ask)
        note_outcome(f"{runner_id}: {reason};", outcome, tally)

    def _finish(self, *, owner: str, now: str, bounds: Bounds, tally: Tally) -> bool:
        """What a cleaner that died has begun."""
        for runner in self.cleanup.runners.table.in_status(RunnerStatus.CLEANING):
            if bounds.out_of_time():
                return False
            if (runner.cleaning_since or "") <= ran_out_at(now):
                with tally.alone(f"runner {runner.runner_id}"):
                    self._clean(
                        runner.runner_id, runner.suspected_reason or "", owner=owner, bounds=bounds, tally=tally
                    )
        return True

    def _is_mapping(self, runner: Runner, instances: Mapping[str, Instance]) -> bool:
        """EC2 reports every instance of the account: one without a job and without a runner's tags is none of ours."""
        if runner.job_id is not None or runner.intended_job_id is not None:
            return True
        instance = instances.get(runner.runner_id)
        return instance is not None and self.cleanup.fleet.is_runner(instance)

    def _jobs(self, runners: dict[str, Runner]) -> dict[tuple[int, int], Job]:
        wanted = [
            (each.installation_id, each.job_id)
            for each in runners.values()
            if each.installation_id is not None and each.job_id is not None
        ]
        return self.cleanup.jobs.among(wanted)
