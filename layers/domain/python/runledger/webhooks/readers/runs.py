"""Reads a run from a webhook or from the REST API."""

from runledger.model import payload
from runledger.model.payload import Json
from runledger.model.reports import RunReport, RunStatus
from runledger.webhooks.delivery import Delivery, installation_id

ACTIONS = {
    "requested": RunStatus.QUEUED,
    "in_progress": RunStatus.IN_PROGRESS,
    "completed": RunStatus.COMPLETED,
}


def read_run(message: Json, delivery: Delivery) -> tuple[RunReport, ...]:
    if payload.action(message) not in ACTIONS:
        return ()
    run = payload.section(message, "workflow_run")
    workflow = payload.optional_section(message, "workflow")
    repository = payload.section(message, "repository")
    return (
        run_report(
            {
                **run,
                "name": run.get("name") or workflow.get("name"),
                "workflow_id": run.get("workflow_id") or workflow.get("id"),
                "repository": repository,
            },
            installation_id=installation_id(message),
            repo_full_name=payload.repository_name(repository, "repository.full_name"),
            at=delivery.received_at,
            at_least=ACTIONS[payload.action(message)],
        ),
    )


def run_report(
    run: Json, *, installation_id: int, repo_full_name: str, at: str, at_least: RunStatus = RunStatus.QUEUED
) -> RunReport:
    """`run` may contain its `repository`; GitHub's API omits the default branch from it."""
    status = _further(at_least, run.get("status"))
    repository = payload.optional_section(run, "repository")
    return RunReport(
        installation_id=installation_id,
        run_id=payload.identifier(run, "workflow_run.id"),
        run_attempt=payload.identifier(run, "workflow_run.run_attempt", default=1),
        reported_at=at,
        status=status,
        conclusion=payload.text(run, "conclusion") if status is RunStatus.COMPLETED else None,
        repo_full_name=repo_full_name,
        workflow_id=payload.positive_int(run, "workflow_id"),
        workflow_name=payload.text(run, "name"),
        head_sha=payload.text(run, "head_sha"),
        head_branch=payload.text(run, "head_branch"),
        run_html_url=payload.text(run, "html_url"),
        created_at=payload.instant(run, "created_at"),
        updated_at=payload.instant(run, "updated_at"),
        run_number=payload.positive_int(run, "run_number"),
        event=payload.text(run, "event"),
        actor=payload.text(_actor(run), "login"),
        default_branch=payload.text(repository, "default_branch"),
        from_fork=_is_from_fork(run, repository) or None,
        head_committed_at=payload.instant(payload.optional_section(run, "head_commit"), "timestamp"),
    )


def _actor(run: Json) -> Json:
    """A re-run may be triggered by someone other than the run's actor."""
    return payload.optional_section(run, "triggering_actor") or payload.optional_section(run, "actor")


def _is_from_fork(run: Json, repository: Json) -> bool:
    """Compares ids, because a repository can be renamed. A run whose fork was deleted has no head repository."""
    head = payload.optional_section(run, "head_repository")
    ids = payload.positive_int(head, "id"), payload.positive_int(repository, "id")
    return None not in ids and ids[0] != ids[1]


def _further(at_least: RunStatus, reported: object) -> RunStatus:
    """GitHub has more statuses for a run that hasn't started (requested, waiting, pending) than are stored."""
    order = tuple(RunStatus)
    known = RunStatus(reported) if isinstance(reported, str) and reported in order else RunStatus.QUEUED
    return max(at_least, known, key=order.index)
