"""Messages about runs, deployments and installations, made from GitHub's own example payloads."""

from typing import Any

from local.github.examples import example
from tests.support.webhooks import DEPLOYMENT, INSTALLATION, REPO, RUN

ENVIRONMENT, JOB_NAME = "production", "test"
Message = tuple[str, dict[str, Any]]


def run(action: str, *, attempt: int = 1, run_id: int = RUN) -> Message:
    message = _example("workflow_run", "completed")
    message["action"] = action
    message["workflow_run"] |= {
        "id": run_id,
        "run_attempt": attempt,
        "name": "Env Test",
        "status": "queued" if action == "requested" else action,
        "conclusion": "success" if action == "completed" else None,
        "created_at": "2025-01-15T09:59:58Z",
        "updated_at": {"requested": "2025-01-15T09:59:58Z", "in_progress": "2025-01-15T10:00:30Z"}.get(
            action, "2025-01-15T10:13:00Z"
        ),
    }
    return "workflow_run", message


def deployment() -> Message:
    message = _example("deployment", "created")
    message["deployment"] |= _deployment()
    return "deployment", message


def deployment_status(
    state: str,
    *,
    job_id: int | None = None,
    deployment_id: int = DEPLOYMENT,
    created: str = "2025-01-15T10:05:00Z",
) -> Message:
    message = _example("deployment_status", "created")
    message["deployment"] |= _deployment() | {"id": deployment_id}
    message["deployment_status"] |= {"state": state, "created_at": created}
    message["check_run"] = {"id": job_id} if job_id else None
    return "deployment_status", message


def protection_rule() -> Message:
    message = _example("deployment", "created")
    message["action"] = "requested"
    message["deployment"] |= _deployment()
    return "deployment_protection_rule", message | {"environment": ENVIRONMENT}


def review(
    action: str,
    *,
    environment: str = ENVIRONMENT,
    attempt: int = 1,
    since: str = "2025-01-15T10:01:00Z",
    job_name: str = JOB_NAME,
) -> Message:
    message = _example("deployment_review", "requested")
    message["action"] = action
    message["since"] = since
    message["workflow_run"] |= {"id": RUN, "run_attempt": attempt}
    message["workflow_job_run"] |= {"environment": environment, "name": job_name}
    if action == "requested":
        message["environment"] = environment
    else:
        del message["environment"]
        message["workflow_job_runs"] = [message.pop("workflow_job_run")]
    return "deployment_review", message


def installation(action: str, *, changed: str = "2025-01-15T10:00:00Z") -> Message:
    message = _example("installation", action)
    message["installation"] |= {"id": INSTALLATION, "updated_at": changed, "account": {"login": "lineville"}}
    return "installation", message


def _deployment() -> dict[str, Any]:
    return {"id": DEPLOYMENT, "environment": ENVIRONMENT, "created_at": "2025-01-15T10:00:05Z"}


def _example(event: str, action: str) -> dict[str, Any]:
    found = example(event, action)
    if "repository" in found:
        found["repository"]["full_name"] = REPO
    return found | {"installation": {"id": INSTALLATION}} if event != "installation" else found
