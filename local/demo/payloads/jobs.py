"""`workflow_job` payloads."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Literal

from local.demo.payloads.deployments import deployment_section
from local.demo.payloads.entities import Delivery, Job, Payload, Runner, delivery
from local.demo.payloads.parts import example, placed, timestamp

if TYPE_CHECKING:
    from datetime import datetime

Action = Literal["queued", "waiting", "in_progress", "completed"]


def job_delivery(
    job: Job,
    action: Action,
    at: datetime,
    *,
    runner: Runner | None = None,
    started_at: datetime | None = None,
    conclusion: str | None = None,
    hook: str = "",
) -> Delivery:
    payload = placed(example("workflow_job", action), job.run.repository)
    payload["workflow_job"] |= {
        **_identity(job),
        "status": action,
        "conclusion": conclusion,
        "created_at": timestamp(job.created_at),
        "started_at": timestamp(started_at or job.created_at),  # GitHub sets it before the job starts
        "completed_at": timestamp(at) if action == "completed" else None,
        "runner_id": runner.id if runner else None,
        "runner_name": runner.name if runner else None,
        "runner_group_id": 1 if runner else None,
        "runner_group_name": "Default" if runner else None,
        "steps": _steps(started_at, at, conclusion) if runner else [],
    }
    payload.pop("deployment", None)
    if job.deployment:
        payload["deployment"] = deployment_section(job, job.deployment, at)
    return delivery("workflow_job", job, at, payload, hook=hook)


def carried_over(original: Delivery, copy: Job) -> Delivery:
    """A re-run of other jobs copies this one: a new id and creation, and the times and runner of the original."""
    payload = deepcopy(original.payload)
    payload["workflow_job"] |= _identity(copy) | {"created_at": timestamp(copy.created_at)}
    return delivery("workflow_job", copy, copy.created_at, payload)


def _identity(job: Job) -> Payload:
    run = job.run
    return {
        "id": job.id,
        "node_id": f"CR_{job.id}",
        "run_id": run.id,
        "run_attempt": run.attempt,
        "name": job.name,
        "workflow_name": run.workflow_name,
        "head_sha": run.head_sha,
        "head_branch": run.head_branch,
        "labels": list(job.labels),
        "run_url": run.url,
        "html_url": job.html_url,
        "url": f"{run.repository.url}/actions/jobs/{job.id}",
        "check_run_url": f"{run.repository.url}/check-runs/{job.id}",
    }


def _steps(started_at: datetime | None, at: datetime, conclusion: str | None) -> list[Payload]:
    names = ("Set up job", "Run actions/checkout@v4", "Run the job", "Complete job")
    return [
        {
            "name": name,
            "number": number,
            "status": "completed" if conclusion else "in_progress",
            "conclusion": conclusion,
            "started_at": timestamp(started_at or at),
            "completed_at": timestamp(at) if conclusion else None,
        }
        for number, name in enumerate(names if conclusion else names[:1], start=1)
    ]
