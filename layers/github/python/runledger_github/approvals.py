"""Whether a waiting job still waits for an approval, according to GitHub, or to the table if GitHub can't be asked."""

from typing import Any

from runledger.model.dataclass import dataclass
from runledger.model.errors import GitHubRefusal, UnavailableError
from runledger.model.job import Job
from runledger.model.keys import DeploymentKey
from runledger.model.reports import Approval
from runledger.queries import forgotten_approvals
from runledger.queries.caches import Cache
from runledger.tables.deployments import DeploymentsTable


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingApprovals:
    """`cache` is None without a GitHub App."""

    deployments: DeploymentsTable
    cache: Cache[DeploymentKey] | None

    def is_pending(self, job: Job, *, may_ask: bool) -> bool:
        if may_ask and (found := self._refreshed(job)):
            return found.get("status") == Approval.PENDING
        return forgotten_approvals.is_pending(job, self.deployments)

    def _refreshed(self, job: Job) -> dict[str, Any] | None:
        """None if GitHub doesn't respond: one approval that can't be checked must not hide the others."""
        if self.cache is None or job.deployment_id is None or job.repo_full_name is None:
            return None
        try:
            return self.cache.get(DeploymentKey(job.installation_id, job.deployment_id), job.repo_full_name)
        except (GitHubRefusal, UnavailableError):
            return None
