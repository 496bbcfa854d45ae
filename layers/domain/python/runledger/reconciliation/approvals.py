"""Forgotten approvals: deployments that have waited too long for a review. They are reported, not changed."""

from collections.abc import Callable, Sequence
from typing import Protocol

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.job import Job
from runledger.queries import forgotten_approvals
from runledger.queries.forgotten_approvals import ForgottenApproval
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.tally import Count
from runledger.tables.jobs import JobsTable


class PendingApprovals(Protocol):
    """Implemented by runledger_github."""

    def is_pending(self, job: Job, *, may_ask: bool) -> bool:
        """Unless it `may_ask` GitHub, uses the stored status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalCheck:
    """Uses the stored status if no time or rate limit is left to ask GitHub, so this part always finishes."""

    jobs: JobsTable
    pending: PendingApprovals
    forgotten_approval_hours: int
    notify: Callable[[Sequence[ForgottenApproval], str], object] = lambda _forgotten, _now: None

    def check(self, installation_ids: Sequence[int], current: Pass) -> bool:
        forgotten = self._find(installation_ids, current)
        with current.tally.isolated("the feed"):
            self.notify(forgotten, current.now)
        for each in forgotten:
            where = f"{each.environment} for run {each.run_id} of {each.repo_full_name}"
            jobs = f"{len(each.job_ids)} jobs waiting" if len(each.job_ids) > 1 else "1 job waiting"
            current.tally.report(Count.FORGOTTEN, f"approval of {where}: {jobs} since {each.waiting_since}")
        return True

    def _find(self, installation_ids: Sequence[int], current: Pass) -> list[ForgottenApproval]:
        def is_pending(job: Job) -> bool:
            return self.pending.is_pending(job, may_ask=current.may_ask(job.installation_id))

        before = times.earlier(current.now, seconds=self.forgotten_approval_hours * times.SECONDS_PER_HOUR)
        return forgotten_approvals.find(self.jobs, installation_ids, waiting_since_before=before, is_pending=is_pending)
