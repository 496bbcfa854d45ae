"""Forgotten approvals: deployments that have waited too long for a review. They are reported, not changed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from runledger.queries.forgotten_approvals import ForgottenApproval
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.tally import Count


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalCheck:
    """`find` uses the stored status if there is no time or rate limit to ask GitHub, so this part always finishes."""

    find: Callable[[Sequence[int], Pass], Iterable[ForgottenApproval]]

    def check(self, installation_ids: Sequence[int], current: Pass) -> bool:
        for each in self.find(installation_ids, current):
            where = f"{each.environment} for run {each.run_id} of {each.repo_full_name}"
            jobs = f"{len(each.job_ids)} jobs waiting" if len(each.job_ids) > 1 else "1 job waiting"
            current.tally.report(Count.FORGOTTEN, f"approval of {where}: {jobs} since {each.waiting_since}")
        return True
