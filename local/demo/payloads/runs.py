"""`workflow_run` payloads, and the section of the same name in deployment payloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from local.demo.payloads.entities import Delivery, Payload, Run, delivery
from local.demo.payloads.parts import example, moved, placed, renamed, section, timestamp

if TYPE_CHECKING:
    from datetime import datetime

Action = Literal["requested", "in_progress", "completed"]


def run_delivery(run: Run, action: Action, at: datetime, *, conclusion: str | None = None) -> Delivery:
    payload = placed(example("workflow_run", "requested"), run.repository)  # GitHub has no example of in_progress
    payload["action"] = action
    payload["workflow"] = workflow_section(run)
    status = "queued" if action == "requested" else action
    payload["workflow_run"] = run_section(run, at, status=status, conclusion=conclusion)
    return delivery("workflow_run", run, at, payload)


def run_section(run: Run, at: datetime, *, status: str, conclusion: str | None = None) -> Payload:
    part = section("workflow_run", "workflow_run")
    part = renamed(part, {str(part["id"]): str(run.id), str(part["workflow_id"]): str(run.workflow_id)})
    part = moved(part, run.repository)
    commit = {"id": run.head_sha, "timestamp": timestamp(run.committed_at or run.created_at)}
    return part | {
        "node_id": f"WFR_{run.id}",
        "run_attempt": run.attempt,
        "run_number": run.number,
        "name": run.workflow_name,
        "display_title": run.workflow_name,
        "path": run.workflow_path,
        "event": "push",
        "head_sha": run.head_sha,
        "head_branch": run.head_branch,
        "head_commit": part["head_commit"] | commit,
        "head_repository": part["head_repository"] | {"id": run.repository.id},
        "status": status,
        "conclusion": conclusion,
        "created_at": timestamp(run.created_at),
        "run_started_at": timestamp(run.started_at),
        "updated_at": timestamp(at),
        "previous_attempt_url": f"{run.url}/attempts/{run.attempt - 1}" if run.attempt > 1 else None,
        "pull_requests": [],
    }


def workflow_section(run: Run) -> Payload:
    payload = example("workflow_run", "requested")
    part = payload["workflow"]
    names = {
        str(part["id"]): str(run.workflow_id),
        part["path"]: run.workflow_path,
        f"/{part['name']}/badge": f"/{run.workflow_name}/badge",
        payload["repository"]["full_name"]: run.repository.full_name,
    }
    return renamed(part, names) | {"node_id": f"W_{run.workflow_id}", "name": run.workflow_name}
