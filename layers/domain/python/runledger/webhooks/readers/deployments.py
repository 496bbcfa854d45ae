"""What GitHub says of deployments and of those who must approve them."""

from collections.abc import Iterable

from runledger.model import payload
from runledger.model.payload import Json
from runledger.model.reports import LONGEST_JOB_NAME, Approval, DeploymentReport, Review
from runledger.webhooks.delivery import Delivery, installation_id

# A deployment that failed may have been rejected, or approved and then failed: that says nothing.
PASSED_THE_GATE = {"queued", "in_progress", "success"}
WAITS_AT_THE_GATE = {"waiting"}
FAILED = {"failure", "error"}
REVIEWS = {"requested": Approval.PENDING, "approved": Approval.APPROVED, "rejected": Approval.REJECTED}
MOST_ENVIRONMENTS = 50


def read_deployment(message: Json, delivery: Delivery) -> tuple[DeploymentReport, ...]:
    return (_report(message, delivery),)


def read_deployment_status(message: Json, delivery: Delivery) -> tuple[DeploymentReport, ...]:
    state = payload.text(payload.section(message, "deployment_status"), "state")
    # The check run of an Actions job has the job's own id.
    job_id = payload.whole(payload.optional_section(message, "check_run"), "id")
    return (_report(message, delivery, job_id=job_id, status=_status(state), waits=state in WAITS_AT_THE_GATE),)


def read_protection_rule(message: Json, delivery: Delivery) -> tuple[DeploymentReport, ...]:
    if payload.action(message) != "requested":
        return ()
    return (_report(message, delivery, status=Approval.PENDING, waits=True),)


def read_review(message: Json, delivery: Delivery) -> tuple[Review, ...]:
    if payload.action(message) not in REVIEWS:
        return ()
    run = payload.section(message, "workflow_run")
    repository = payload.section(message, "repository")
    return tuple(
        Review(
            installation_id=installation_id(message),
            run_id=payload.identifier(run, "workflow_run.id"),
            run_attempt=payload.identifier(run, "workflow_run.run_attempt", default=1),
            environment=environment,
            status=REVIEWS[payload.action(message)],
            reviewed_at=payload.instant(message, "since") or delivery.received_at,
            repo_full_name=payload.repository_name(repository, "repository.full_name"),
            delivery_id=delivery.delivery_id,
            reported_at=delivery.received_at,
            body_digest=delivery.body_digest,
            job_name=_requested_job(message),
        )
        for environment in _environments(message)
    )


def approval_of(states: Iterable[str]) -> Approval:
    """From all states of a deployment: one that failed and never passed the gate was rejected."""
    seen = set(states)
    if seen & PASSED_THE_GATE:
        return Approval.APPROVED
    return Approval.REJECTED if seen & FAILED else Approval.PENDING


def _environments(message: Json) -> list[str]:
    """A request names one environment; a decision names one in each job that it lets through or stops."""
    jobs = message.get("workflow_job_runs")
    named = [message, payload.optional_section(message, "workflow_job_run"), *(jobs if isinstance(jobs, list) else ())]
    found = {payload.text(each, "environment") for each in named if isinstance(each, dict)}
    return sorted(environment for environment in found if environment)[:MOST_ENVIRONMENTS]


def _requested_job(message: Json) -> str | None:
    name = payload.text(payload.optional_section(message, "workflow_job_run"), "name")
    return name[:LONGEST_JOB_NAME] if name else None


def _status(state: str | None) -> Approval | None:
    if state in PASSED_THE_GATE:
        return Approval.APPROVED
    return Approval.PENDING if state in WAITS_AT_THE_GATE else None


def _report(
    message: Json,
    delivery: Delivery,
    *,
    status: Approval | None = None,
    waits: bool = False,
    job_id: int | None = None,
) -> DeploymentReport:
    deployment = payload.section(message, "deployment")
    repository = payload.section(message, "repository")
    return DeploymentReport(
        installation_id=installation_id(message),
        deployment_id=payload.identifier(deployment, "deployment.id"),
        reported_at=delivery.received_at,
        repo_full_name=payload.repository_name(repository, "repository.full_name"),
        environment=payload.text(deployment, "environment"),
        created_at=payload.instant(deployment, "created_at"),
        status=status,
        requires_approval=waits or None,
        job_id=job_id,
    )
