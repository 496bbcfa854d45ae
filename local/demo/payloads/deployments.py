"""`deployment`, `deployment_status` and `deployment_review`: the payloads while a job waits for an environment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from local.demo.payloads.entities import Delivery, Deployment, Job, Payload, delivery
from local.demo.payloads.parts import example, placed, renamed, section, timestamp
from local.demo.payloads.runs import run_section, workflow_section

if TYPE_CHECKING:
    from datetime import datetime

State = Literal["waiting", "in_progress", "success", "failure", "inactive"]
Review = Literal["requested", "approved", "rejected"]

_ENDS = ("success", "failure")


def deployment_created(job: Job, deployment: Deployment, at: datetime) -> Delivery:
    payload = placed(example("deployment", "created"), job.run.repository)
    payload["deployment"] = deployment_section(job, deployment, at)
    payload["workflow"] = workflow_section(job.run)
    payload["workflow_run"] = run_section(job.run, at, status="queued")
    return delivery("deployment", job, at, payload)


def deployment_status(job: Job, deployment: Deployment, state: State, at: datetime) -> Delivery:
    payload = placed(example("deployment_status", "created"), job.run.repository)
    payload["deployment"] = deployment_section(job, deployment, at)
    payload["deployment_status"] = _status(payload["deployment_status"], job, deployment, state, at)
    status, conclusion = ("completed", state) if state in _ENDS else (state, None)
    payload["check_run"] = _check_run(payload["check_run"], job, at, status=status, conclusion=conclusion)
    payload["workflow_run"] = run_section(job.run, at, status=status, conclusion=conclusion)
    return delivery("deployment_status", job, at, payload)


def deployment_state(job: Job, deployment: Deployment, state: State, at: datetime) -> Delivery:
    """A status that an external deployment tool reports through GitHub's API, without a check run."""
    reported = deployment_status(job, deployment, state, at)
    return replace(reported, payload=reported.payload | {"check_run": None, "workflow_run": None})


def deployment_review(job: Job, deployment: Deployment, action: Review, at: datetime) -> Delivery:
    """A request names one environment; a decision names one for each job that it approves or rejects."""
    payload = placed(example("deployment_review", "requested"), job.run.repository)
    payload["action"] = action
    payload["since"] = timestamp(at)
    payload["workflow_run"] = run_section(job.run, at, status="waiting")
    waiting = payload.pop("workflow_job_run") | {
        "id": job.id,
        "name": job.name,
        "status": "waiting",
        "html_url": job.html_url,
        "created_at": timestamp(job.created_at),
        "updated_at": timestamp(at),
        "environment": deployment.environment,
    }
    person = payload["requestor"]
    if action == "requested":
        payload["environment"] = deployment.environment
        payload["workflow_job_run"] = waiting
        payload["reviewers"] = [{"type": "User", "reviewer": person}]
    else:
        del payload["environment"], payload["requestor"], payload["reviewers"]
        payload |= {"approver": person, "comment": "", "workflow_job_runs": [waiting]}
    return delivery("deployment_review", job, at, payload)


def deployment_section(job: Job, deployment: Deployment, at: datetime) -> Payload:
    payload = example("deployment", "created")
    part = payload["deployment"]
    names = {
        str(part["id"]): str(deployment.id),
        payload["repository"]["full_name"]: job.run.repository.full_name,
    }
    return renamed(part, names) | {
        "node_id": f"DE_{deployment.id}",
        "environment": deployment.environment,
        "original_environment": deployment.environment,
        "production_environment": deployment.environment == "production",
        "payload": {"version": deployment.version} if deployment.version else {},
        "creator": section("workflow_run", "workflow_run")["actor"],
        "sha": job.run.head_sha,
        "ref": job.run.head_branch,
        "created_at": timestamp(job.created_at),
        "updated_at": timestamp(at),
    }


def _status(part: Payload, job: Job, deployment: Deployment, state: State, at: datetime) -> Payload:
    number = int(at.timestamp())
    url = f"{job.run.repository.url}/deployments/{deployment.id}"
    return part | {
        "id": number,
        "node_id": f"DES_{number}",
        "state": state,
        "environment": deployment.environment,
        "url": f"{url}/statuses/{number}",
        "deployment_url": url,
        "repository_url": job.run.repository.url,
        "target_url": job.html_url,
        "log_url": job.html_url,
        "created_at": timestamp(at),
        "updated_at": timestamp(at),
    }


def _check_run(part: Payload, job: Job, at: datetime, *, status: str, conclusion: str | None) -> Payload:
    """The check run of an Actions job has the job's own id."""
    return part | {
        "id": job.id,
        "name": job.name,
        "node_id": f"CR_{job.id}",
        "head_sha": job.run.head_sha,
        "url": f"{job.run.repository.url}/check-runs/{job.id}",
        "html_url": job.html_url,
        "details_url": job.html_url,
        "status": status,
        "conclusion": conclusion,
        "started_at": timestamp(job.created_at),
        "completed_at": timestamp(at) if conclusion else None,
    }
