"""Installations that GitHub confirms as deleted: nobody can be asked about their jobs any more, so these are closed."""

from collections.abc import Callable
from dataclasses import dataclass

from runledger.model.inputs import Receipt
from runledger.model.reports import RunReport
from runledger.model.stuck import OPEN
from runledger.reconciliation import healing
from runledger.reconciliation.bounds import Bounds
from runledger.reconciliation.open_runs import gather
from runledger.reconciliation.tally import Count, Tally
from runledger.recording.decision import Decision
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.jobs import JobsTable
from runledger.tables.runs import RunsTable


@dataclass(frozen=True, slots=True, kw_only=True)
class UninstalledCheck:
    """Their machines become orphans: they are shown, and stay alive, because nobody can tell whether they are busy."""

    registry: InstallationsRegistry
    jobs: JobsTable
    runs: RunsTable
    record: Callable[[Receipt], Decision]
    report: Callable[[RunReport], object]

    def check(self, *, now: str, bounds: Bounds, tally: Tally) -> bool:
        """False if time ran out."""
        for installation_id in self.registry.deleted():
            for status in OPEN:
                for job in self.jobs.in_status(installation_id, status, created_before=now):
                    if bounds.out_of_time():
                        return False
                    about = f"job {job.job_id} of {job.repo_full_name}"
                    with tally.alone(about):
                        self.record(healing.closed(job, now=now, reason=healing.UNINSTALLED))
                        tally.find(Count.CLOSED, f"{about}: {job.status} here, {healing.UNINSTALLED}; closed")
            for run in gather((), self.runs.open(installation_id)):
                if bounds.out_of_time():
                    return False
                with tally.alone(str(run)):
                    self.report(healing.unknown_run(run, now=now))
        return True
