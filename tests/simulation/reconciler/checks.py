"""What must be true in every world: while it is played, and some time after it has fallen silent."""

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator

from runledger.model import times
from runledger.model.inputs import Status
from runledger.model.job import Job as Recorded
from runledger.model.keys import RunKey
from runledger.model.reports import InstallationStatus, RunStatus
from runledger.reconciliation.healing import UNKNOWN

from local.github.records import Job
from tests.simulation.reconciler.lives import Lives
from tests.simulation.reconciler.machines import Machine
from tests.simulation.reconciler.production import LAMBDA_SECONDS
from tests.simulation.reconciler.troubles import MINUTE
from tests.simulation.reconciler.webhooks import ORGANISATIONS
from tests.simulation.reconciler.world import World
from tests.support.ledgers import EVENTS

GRACE_SECONDS = 10 * MINUTE
PAUSE_SECONDS = 10 * MINUTE


class Checks:
    def __init__(self, world: World, lives: Lives) -> None:
        self.world, self.lives = world, lives
        self.state = world.github.state

    def of_a_stop(self, machine: Machine) -> list[str]:
        """Judged at the moment of the call, by what is true and not by what the ledger believes."""
        wrong, name = [], machine.id
        if machine.job_id is not None and self._has_app(machine.job_id):
            wrong.append(f"{name} was stopped while job {machine.job_id} was running on it")
        if self.world.now() - machine.launched < GRACE_SECONDS:
            wrong.append(f"{name} was stopped {self.world.now() - machine.launched:.0f} seconds after its launch")
        if "runner" not in machine.tags:
            wrong.append(f"{name} was stopped, and is not ours")
        if "ghr:bypass-removal" in machine.tags:
            wrong.append(f"{name} was stopped, and must be kept")
        if any(stopped is machine for _, stopped in self.world.stops):
            wrong.append(f"{name} was stopped twice")
        item = self.world.receiving.runners.table.get(name)
        if item is not None and item.contested_at:
            wrong.append(f"{name} was stopped although it is contested")
        return wrong

    def _has_app(self, job_id: int) -> bool:
        """Runners of an account without the App can't be listed: docs/reconciler.md."""
        repository = self.state.runs[self.state.jobs[job_id].run_id].repository
        return self.lives.installation_of(repository) in self.state.installations

    def of_requests(self) -> Iterator[str]:
        """No request within the pause after another one, and none for a job that has long left the queue."""
        made = defaultdict(list)
        for entry in self.world.bus.entries:
            detail = json.loads(entry["Detail"])
            made[detail["job_id"]].append((detail["requested_at"], detail["request"]))
        for job_id, requests in made.items():
            for (at, number), (again, next_number) in itertools.pairwise(requests):
                pause = PAUSE_SECONDS * 2 ** (number - 1)
                if times.ms_between(at, again) < pause * 1000 or next_number <= number:
                    yield f"a runner for job {job_id} was requested at {at} ({number}) and {again} ({next_number})"

    def of_a_request(self, job_id: int) -> list[str]:
        """Checks at the moment of the request. GitHub's response may be as old as the pass."""
        job, since = self.state.jobs[job_id], self.lives.statuses[job_id]
        if job.status != "queued" and self.world.now() - since > LAMBDA_SECONDS:
            return [f"a runner was requested for job {job_id}, which is {job.status} on GitHub"]
        return []

    def of_jobs(self, *, sent_ones_too: bool) -> Iterator[str]:
        """Every job that the ledger has, or whose run it has as open; later, all that are in GitHub's log.

        A job that is known only from webhooks that GitHub redelivered counts later too: they arrive in any order.
        """
        ledger = self.world.receiving.intake.ledger
        records = {each["installation_id"]: each for each in ledger.installations.all()}
        for job in self.state.jobs.values():
            run = self.state.runs[job.run_id]
            installation_id = self.lives.installation_of(run.repository)
            if installation_id not in self.state.installations:
                continue
            recorded = ledger.jobs.get(installation_id, job.id, consistent=True)
            record = records.get(installation_id, {})
            item = ledger.runs.get(RunKey(installation_id, run.id, job.run_attempt)) or {}
            is_known = recorded is not None or item.get("status", RunStatus.COMPLETED) != RunStatus.COMPLETED
            believed_active = record.get("status", InstallationStatus.ACTIVE) == InstallationStatus.ACTIVE
            is_redelivered = recorded is not None and recorded.received_at > self._silent_at
            if not sent_ones_too and not (is_known and believed_active and not is_redelivered):
                continue
            if not is_known and not self._is_in_log(job):
                continue
            if problem := self._difference(job, recorded):
                yield f"job {job.id} of run {run.id}, attempt {job.run_attempt}: {problem}"

    @property
    def _silent_at(self) -> str:
        return times.from_epoch_ms(int(self.world.troubles.silent_at * times.MS_PER_SECOND))

    def _is_in_log(self, job: Job) -> bool:
        return any(f'"workflow_job": {{"id": {job.id},'.encode() in row.body for row in self.state.deliveries)

    def _difference(self, job: Job, recorded: Recorded | None) -> str | None:
        if recorded is None:
            return f"{job.status} on GitHub, and unknown here"
        here, there = recorded.status, Status(job.status)
        if here is Status.SCHEDULED:
            here = Status.QUEUED  # GitHub has no such status
        if here is not there:
            if here is Status.COMPLETED and self._is_closed_as_unknown(recorded):
                return None  # until it ends: a closed job is not opened again
            return f"{there} on GitHub, {recorded.status} here"
        if recorded.conclusion != job.conclusion:
            return f"{job.conclusion} on GitHub, {recorded.conclusion} here"
        return None

    def _is_closed_as_unknown(self, job: Recorded) -> bool:
        history = self.world.engine.storage.snapshot().items[EVENTS]
        return any(UNKNOWN in str(item) and str(job.job_id) in str(item) for item in history.values())

    def of_orphans(self) -> Iterator[str]:
        """All machines that are recognisably idle are stopped by now."""
        runners = self.state.runners.values()
        if set(self.state.installations) != set(ORGANISATIONS) or any("i-" not in each.name for each in runners):
            return
        for machine in self.world.ec2.machines.values():
            ours = "runner" in machine.tags and "ghr:bypass-removal" not in machine.tags
            item = self.world.receiving.runners.table.get(machine.id)
            if item is not None and (item.contested_at or self._is_awaited(machine, item.job_id)):
                continue
            if ours and machine.alive and machine.job_id is None and not self._may_be_busy(machine):
                yield f"{machine.id} is idle and was not stopped"

    def of_reports(self) -> Iterator[str]:
        for _, machine in self.world.stops:
            yield f"{machine.id} was stopped, and orphans are only reported"

    def _is_awaited(self, machine: Machine, job_id: int | None) -> bool:
        """Its launcher planned it for a job that has not ended. It must register if the job still awaits a runner."""
        status = self.state.jobs[job_id].status if job_id in self.state.jobs else "completed"
        return "online" in machine.facts if status == "queued" else status != "completed"

    def _may_be_busy(self, machine: Machine) -> bool:
        """A stranger's runner bears its id, and is busy."""
        return any(machine.id in each.name and each.busy for each in self.state.runners.values())
