"""`workflow_job` payloads for invented jobs, made from GitHub's own examples so that their shape is the real one."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from local import examples

if TYPE_CHECKING:
    from datetime import datetime

Action = Literal["queued", "waiting", "in_progress", "completed"]
Payload = dict[str, Any]

_IDS = uuid.UUID("6f7c2f6e-2d51-4a4f-9a43-0d8f6a3f7d11")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """Installation 0 is a hook of the repository itself, whose payloads name no installation."""

    full_name: str
    id: int
    private: bool
    installation_id: int = 0

    @property
    def url(self) -> str:
        return f"https://api.github.com/repos/{self.full_name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    id: int
    run_id: int
    run_attempt: int
    name: str
    workflow_name: str
    repository: Repository
    head_sha: str
    head_branch: str
    labels: tuple[str, ...]
    created_at: datetime
    environment: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One sending of a payload; a redelivery keeps the id."""

    delivery_id: str
    job_id: int
    installation_id: int
    sent_at: datetime
    payload: Payload = field(repr=False)

    @property
    def body(self) -> bytes:
        return json.dumps(self.payload, separators=(",", ":")).encode()


def delivery(
    job: Job,
    action: Action,
    at: datetime,
    *,
    runner: Runner | None = None,
    started_at: datetime | None = None,
    conclusion: str | None = None,
    hook: str = "",
) -> Delivery:
    """Return what GitHub sends about a job at a time; `hook` tells apart hooks that send the same fact."""
    payload = _example(action)
    payload["action"] = action
    payload["workflow_job"] |= {
        **_identity(job),
        "status": action,
        "conclusion": conclusion,
        "created_at": _timestamp(job.created_at),
        "started_at": _timestamp(started_at or job.created_at),  # GitHub fills it in long before the job starts
        "completed_at": _timestamp(at) if action == "completed" else None,
        "runner_id": runner.id if runner else None,
        "runner_name": runner.name if runner else None,
        "runner_group_id": 1 if runner else None,
        "runner_group_name": "Default" if runner else None,
        "steps": _steps(started_at, at, conclusion) if runner else [],
    }
    _place(payload, job)
    return Delivery(
        delivery_id=str(uuid.uuid5(_IDS, f"{job.id} {action} {at.isoformat()} {hook}")),
        job_id=job.id,
        installation_id=job.repository.installation_id,
        sent_at=at,
        payload=payload,
    )


def _identity(job: Job) -> Payload:
    run = f"{job.repository.full_name}/actions/runs/{job.run_id}"
    return {
        "id": job.id,
        "node_id": f"CR_{job.id}",
        "run_id": job.run_id,
        "run_attempt": job.run_attempt,
        "name": job.name,
        "workflow_name": job.workflow_name,
        "head_sha": job.head_sha,
        "head_branch": job.head_branch,
        "labels": list(job.labels),
        "run_url": f"https://api.github.com/repos/{run}",
        "html_url": f"https://github.com/{run}/job/{job.id}",
        "url": f"{job.repository.url}/actions/jobs/{job.id}",
        "check_run_url": f"{job.repository.url}/check-runs/{job.id}",
    }


def _steps(started_at: datetime | None, at: datetime, conclusion: str | None) -> list[Payload]:
    names = ("Set up job", "Run actions/checkout@v4", "Run the job", "Complete job")
    return [
        {
            "name": name,
            "number": number,
            "status": "completed" if conclusion else "in_progress",
            "conclusion": conclusion,
            "started_at": _timestamp(started_at or at),
            "completed_at": _timestamp(at) if conclusion else None,
        }
        for number, name in enumerate(names if conclusion else names[:1], start=1)
    ]


def _place(payload: Payload, job: Job) -> None:
    """Move the payload to the job's repository and installation, addresses included."""
    place = job.repository
    owner, name = place.full_name.split("/")
    payload["repository"] = _part("repository", "full_name", place.full_name) | {
        "id": place.id,
        "name": name,
        "private": place.private,
        "visibility": "private" if place.private else "public",
        "custom_properties": {"team": owner},
    }
    payload["repository"]["owner"]["login"] = owner
    payload["organization"] = _part("organization", "login", owner) | {"id": place.id // 1000}
    payload.pop("installation", None)
    if place.installation_id:
        payload["installation"] = {"id": place.installation_id, "node_id": f"I_{place.installation_id}"}
    payload.pop("deployment", None)
    if job.environment is not None:
        payload["deployment"] = _part("deployment", "environment", job.environment) | {
            "id": job.run_id + 7,
            "url": f"{place.url}/deployments/{job.run_id + 7}",
            "created_at": _timestamp(job.created_at),
            "updated_at": _timestamp(job.created_at),
        }


def _example(action: Action) -> Payload:
    found: Payload = json.loads(_examples()[action])
    return found


def _part(section: str, name_field: str, name: str) -> Payload:
    """Return the fullest example of a section, with its name changed wherever it occurs."""
    full: Payload = json.loads(_fullest(section))
    renamed: Payload = json.loads(_fullest(section).replace(full[name_field], name))
    return renamed


@cache
def _examples() -> dict[str, str]:
    """The example of each action on github.com, as text: every use gets a copy of its own."""
    return {payload["action"]: json.dumps(payload) for payload in reversed(examples.payloads("workflow_job"))}


@cache
def _fullest(section: str) -> str:
    found = [each[section] for each in examples.payloads("workflow_job") if section in each]
    return json.dumps(max(found, key=len))


def _timestamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
