"""Jobs and histories as the API returns them, with times in seconds from the beginning of a run."""

from datetime import UTC, datetime, timedelta
from typing import Any

BEGIN = datetime(2025, 1, 15, 10, tzinfo=UTC)
RUN_URL = "https://github.com/o/r/actions/runs/7"
TIMES = (
    *("created_at", "received_at", "approval_requested_at", "approved_at", "rejected_at"),
    *("scheduled_at", "started_at", "completed_at"),
)


def at(seconds: float) -> str:
    return f"{BEGIN + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"


def job(job_id: int, status: str = "completed", **more: Any) -> dict[str, Any]:
    """Times are given by their names."""
    values = {name: at(value) if name in TIMES else value for name, value in more.items()}
    about = {"installation_id": 1, "job_id": job_id, "job_name": f"job {job_id}", "repo_full_name": "o/r"}
    run = {"run_id": 7, "run_attempt": 1, "workflow_name": "CI", "github_run_url": RUN_URL}
    ended = {"conclusion": "success"} if status == "completed" else {}
    known = {"status": status, "was_interrupted": False, "created_at": at(0), "received_at": at(1)}
    return about | run | ended | known | {"last_updated_at": at(0)} | values


def event(event_type: str, received: float, *, duplicate: bool = False, **changes: float) -> dict[str, Any]:
    """`changes` are times that the event added."""
    found: dict[str, Any] = {
        "installation_id": 1,
        "job_id": 1,
        "timestamp": at(received),
        "event_type": event_type,
        "status": "queued",
        "source": "github_webhook",
        "delivery_id": f"{event_type} {received}",
        "changes": {name: {"to": at(value)} for name, value in changes.items()},
    }
    return found | ({"duplicate": True} if duplicate else {})
