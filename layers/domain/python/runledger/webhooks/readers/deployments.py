"""Reads deployments and their approvals from webhooks, or from GitHub's API."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from runledger.model import payload
from runledger.model.payload import Json
from runledger.model.reports import LONGEST_JOB_NAME, Approval, DeploymentReport, Review
from runledger.webhooks.delivery import Delivery, installation_id

# In a webhook, FAILED doesn't show the decision: the deployment was rejected, or approved and then failed.
PASSED_THE_GATE = {"queued", "in_progress", "success"}
WAITS_AT_THE_GATE = {"waiting"}
FAILED = {"failure", "error"}
REVIEWS = {"requested": Approval.PENDING, "approved": Approval.APPROVED, "rejected": Approval.REJECTED}
MOST_ENVIRONMENTS = 50
# The states that show what is deployed in an environment, and where the time of each is stored.
STATE_TIMES = {
    **dict.fromkeys(("success",), "succeeded_at"),
    **dict.fromkeys(FAILED, "failed_at"),
    **dict.fromkeys(("inactive",), "inactive_at"),
}
LONGEST_VERSION = 100


def read_deployment(message: Json, delivery: Delivery) -> tuple[DeploymentReport, ...]:
    return (_report(message, delivery),)


def read_deployment_status(message: Json, delivery: Delivery) -> tuple[DeploymentReport, ...]:
    reported = payload.section(message, "deployment_status")
    state = payload.text(reported, "state")
    # The check run of an Actions job has the job's own id.
    job_id = payload.positive_int(payload.optional_section(message, "check_run"), "id")
    report = _report(message, delivery, job_id=job_id, status=_status(state), waits=state in WAITS_AT_THE_GATE)
    return (replace(report, decided_at=payload.instant(reported, "created_at"), **state_times([reported])),)


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


def decision_of(statuses: Iterable[Json]) -> tuple[Approval, str | None]:
    """The approval and its time, from all statuses of a deployment. One that failed and never passed was rejected."""
    reported = list(statuses)
    for approval, states in ((Approval.APPROVED, PASSED_THE_GATE), (Approval.REJECTED, FAILED)):
        if showing := [each for each in reported if each.get("state") in states]:
            return approval, min(filter(None, (payload.instant(each, "created_at") for each in showing)), default=None)
    return Approval.PENDING, None


def deployment_facts(deployment: Json) -> dict[str, Any]:
    """What GitHub reports about a deployment in webhooks and in its API."""
    return {
        "environment": payload.text(deployment, "environment"),
        "created_at": payload.instant(deployment, "created_at"),
        "head_sha": payload.text(deployment, "sha"),
        "ref": payload.text(deployment, "ref"),
        "creator": payload.text(payload.optional_section(deployment, "creator"), "login"),
        "is_production": payload.flag(deployment, "production_environment"),
        "version": _version(deployment),
    }


def state_times(statuses: Iterable[Json]) -> dict[str, Any]:
    """The latest time of each state: a deployment can become active again."""
    found: dict[str, str] = {}
    for each in statuses:
        name, at = STATE_TIMES.get(str(each.get("state"))), payload.instant(each, "created_at")
        if name and at:
            found[name] = max(at, found.get(name, at))
    return found


def _version(deployment: Json) -> str | None:
    """The payload of a deployment is any JSON, as its creator sent it."""
    version = payload.text(payload.optional_section(deployment, "payload"), "version")
    return version if version and len(version) <= LONGEST_VERSION else None


def _environments(message: Json) -> list[str]:
    """A request names one environment; a decision names one for each job that it approves or rejects."""
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
        status=status,
        requires_approval=waits or None,
        job_id=job_id,
        run_id=payload.positive_int(payload.optional_section(message, "workflow_run"), "id"),
        **deployment_facts(deployment),
    )
