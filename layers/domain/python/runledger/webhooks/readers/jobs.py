"""Reads a job from a webhook or from the REST API, and drops values that GitHub sets too early."""

from typing import Any

from runledger.model import payload
from runledger.model.inputs import EventType, Facts, Receipt, Source, Status
from runledger.model.payload import Json
from runledger.webhooks.delivery import Delivery, installation_id

_EVENT_TYPES = {
    "queued": EventType.WEBHOOK_QUEUED,
    "waiting": EventType.WEBHOOK_WAITING,
    "in_progress": EventType.WEBHOOK_IN_PROGRESS,
    "completed": EventType.WEBHOOK_COMPLETED,
}


def _furthest(action: str, reported: object) -> Status:
    """GitHub writes the payload after the event: a queued job may be waiting or running by then."""
    by_action = Status(action)
    if not isinstance(reported, str) or reported not in _EVENT_TYPES:
        return by_action
    return max(Status(reported), by_action, key=lambda status: status.rank)


def read_job(message: Json, delivery: Delivery) -> tuple[Receipt, ...]:
    """Empty for an action that isn't recorded."""
    action = payload.action(message)
    if action not in _EVENT_TYPES:
        return ()
    job = payload.section(message, "workflow_job")
    status = _furthest(action, job.get("status"))
    return (
        Receipt(
            installation_id=installation_id(message),
            job_id=payload.identifier(job, "workflow_job.id"),
            delivery_id=delivery.delivery_id,
            received_at=delivery.received_at,
            event_type=_EVENT_TYPES[action],
            source=Source.GITHUB_WEBHOOK,
            status=status,
            action=action,
            received_by=delivery.received_by,
            body_digest=delivery.body_digest,
            facts=_facts(message, job, status),
        ),
    )


def listed_status(job: Json) -> Status:
    """The REST API has more statuses for a job that hasn't started."""
    reported = payload.text(job, "status")
    return Status(reported) if reported in _EVENT_TYPES else Status.QUEUED


def _facts(message: Json, job: Json, status: Status) -> Facts:
    repository = payload.section(message, "repository")
    owner = payload.optional_section(message, "organization") or payload.optional_section(repository, "owner")
    deployment = payload.optional_section(message, "deployment")
    return job_facts(
        job,
        status,
        org_name=payload.text(owner, "login"),
        repo_full_name=payload.repository_name(repository, "repository.full_name"),
        repo_is_private=payload.flag(repository, "private"),
        default_branch=payload.text(repository, "default_branch"),
        custom_properties=payload.properties(repository, "custom_properties"),
        deployment_id=payload.positive_int(deployment, "id"),
        environment=payload.text(deployment, "environment"),
    )


def job_facts(job: Json, status: Status, **context: Any) -> Facts:
    """`job` has the same format in webhooks and in the REST API.

    `context` holds values from the rest of the message.
    """
    started_at = payload.instant(job, "started_at")
    created_at = payload.instant(job, "created_at")
    runner_id, runner_name = payload.positive_int(job, "runner_id"), payload.text(job, "runner_name")
    # Before a job runs, its `started_at` equals its `created_at`, and `runner_*` is left over from an earlier job.
    # A job cancelled in the queue has no runner, and its `started_at` equals its end.
    ran = status.rank >= Status.IN_PROGRESS.rank and (runner_id is not None or runner_name is not None)
    done = status is Status.COMPLETED
    return Facts(
        run_id=payload.identifier(job, "workflow_job.run_id"),
        run_attempt=payload.identifier(job, "workflow_job.run_attempt", default=1),
        workflow_id=payload.positive_int(job, "workflow_id"),
        workflow_name=payload.text(job, "workflow_name"),
        job_name=payload.text(job, "name"),
        head_sha=payload.text(job, "head_sha"),
        head_branch=payload.text(job, "head_branch"),
        job_html_url=payload.text(job, "html_url"),
        labels=payload.texts(job, "labels"),
        # GitHub Enterprise Server before 3.6 sends no `created_at`; the start is the earliest time it sends.
        created_at=created_at or started_at,
        started_at=started_at if ran else None,
        completed_at=payload.instant(job, "completed_at") if done else None,
        conclusion=payload.text(job, "conclusion") if done else None,
        runner_id=runner_id if ran else None,
        runner_name=runner_name if ran else None,
        runner_group_id=payload.positive_int(job, "runner_group_id") if ran else None,
        **context,
    )
