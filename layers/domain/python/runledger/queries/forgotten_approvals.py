"""Forgotten approvals: deployments that have waited for a review for days."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from runledger.model.dataclass import dataclass
from runledger.model.inputs import Status
from runledger.model.job import Job
from runledger.model.keys import DeploymentKey
from runledger.model.reports import Approval
from runledger.queries import urls
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.jobs import JobsTable

IsPending = Callable[[Job], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenApproval:
    installation_id: int
    run_id: int | None
    run_attempt: int | None
    repo_full_name: str | None
    environment: str | None
    deployment_id: int | None
    waiting_since: str
    run_html_url: str | None
    job_ids: tuple[int, ...]


def find(
    jobs: JobsTable, installation_ids: Iterable[int], *, waiting_since_before: str, is_pending: IsPending
) -> list[ForgottenApproval]:
    """Longest waiting first. `is_pending` excludes jobs whose approval webhook was lost.

    The wait starts when the approval is requested: the job may have been created long before.
    """
    found: dict[tuple[object, ...], ForgottenApproval] = {}
    for installation_id in installation_ids:
        for job in jobs.in_status(installation_id, Status.WAITING, created_before=waiting_since_before):
            if _waiting_since(job) >= waiting_since_before:
                continue
            key = (installation_id, job.run_id, job.run_attempt, job.deployment_id)
            if key in found:
                known = found[key]
                since = min(known.waiting_since, _waiting_since(job))
                found[key] = replace(known, job_ids=(*known.job_ids, job.job_id), waiting_since=since)
            elif is_pending(job):
                found[key] = _from_job(job)
    return sorted(found.values(), key=lambda approval: approval.waiting_since)


def is_pending(job: Job, deployments: DeploymentsTable) -> bool:
    """Whether, according to the table, a waiting job still waits for an approval."""
    if job.deployment_id is None:
        return True
    found = deployments.get(DeploymentKey(job.installation_id, job.deployment_id))
    return found is None or found.get("status") == Approval.PENDING


def _waiting_since(job: Job) -> str:
    return job.approval_requested_at or job.created_at


def _from_job(job: Job) -> ForgottenApproval:
    return ForgottenApproval(
        installation_id=job.installation_id,
        run_id=job.run_id,
        run_attempt=job.run_attempt,
        repo_full_name=job.repo_full_name,
        environment=job.environment,
        deployment_id=job.deployment_id,
        waiting_since=_waiting_since(job),
        run_html_url=urls.run_page(job.job_html_url, job.run_id),
        job_ids=(job.job_id,),
    )
