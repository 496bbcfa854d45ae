"""Installations that GitHub confirms as deleted: GitHub refuses calls about their jobs, so the jobs are closed."""

from collections.abc import Callable

from runledger.model.dataclass import dataclass
from runledger.model.inputs import Receipt
from runledger.model.reports import RunReport
from runledger.model.stuck import OPEN
from runledger.reconciliation import healing
from runledger.reconciliation.open_runs import gather
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.tally import Count
from runledger.recording.decision import Decision
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.jobs import JobsTable
from runledger.tables.runs import RunsTable


@dataclass(frozen=True, slots=True, kw_only=True)
class UninstalledCheck:
    """Their machines become orphans. They are reported but not terminated: nothing shows whether they are busy."""

    registry: InstallationsRegistry
    jobs: JobsTable
    runs: RunsTable
    record: Callable[[Receipt], Decision]
    report: Callable[[RunReport], object]

    def check(self, current: Pass) -> bool:
        """False if time ran out."""
        for installation_id in self.registry.deleted():
            for status in OPEN:
                for job in self.jobs.in_status(installation_id, status, created_before=current.now):
                    if current.out_of_time():
                        return False
                    about = f"job {job.job_id} of {job.repo_full_name}"
                    with current.tally.isolated(about):
                        self.record(healing.closed_job(job, now=current.now, reason=healing.UNINSTALLED))
                        finding = f"{about}: {job.status} in the ledger, {healing.UNINSTALLED}; closed as cancelled"
                        current.tally.report(Count.CLOSED, finding)
            for run in gather((), self.runs.open(installation_id)):
                if current.out_of_time():
                    return False
                with current.tally.isolated(str(run)):
                    self.report(healing.closed_run(run, now=current.now))
        return True
