"""Responses of the API about heads and releases: a red branch, a rollback, and a line of which one dependent failed."""

from typing import Any

Response = dict[str, Any]
SHA, EARLIER = "1a2b3c4d" * 5, "9f8e7d6c" * 5
PACKAGE = "@acme/ui"


def run(run_id: int = 7_234_567_890, **changes: Any) -> Response:
    return {
        "run_id": run_id,
        "run_attempt": 1,
        "head_sha": SHA,
        "event": "push",
        "actor": "octocat",
        "status": "completed",
        "conclusion": "failure",
        "created_at": "2025-01-15T10:00:00.000Z",
        "completed_at": "2025-01-15T10:10:00.000Z",
        **changes,
    }


def head(**changes: Any) -> Response:
    return {
        "repo_full_name": "acme/storefront-with-a-long-name",
        "branch": "main",
        "is_default_branch": True,
        "workflow_id": 7,
        "workflow_name": "Build and test",
        "state": "red",
        "since": "2025-01-15T10:10:00.000Z",
        "last_run": run(),
        "last_green_run": None,
        "previous_run": None,
        **changes,
    }


def deployment(deployment_id: int = 1, **changes: Any) -> Response:
    return {
        "deployment_id": deployment_id,
        "head_sha": SHA,
        "creator": "octocat",
        "state": "success",
        "succeeded_at": "2025-01-15T10:00:00.000Z",
        **changes,
    }


def environment(**changes: Any) -> Response:
    return {
        "repo_full_name": "acme/storefront",
        "environment": "production",
        "is_production": True,
        "is_active": True,
        "current": deployment(3, version="1.4.0"),
        "since": "2025-01-15T10:00:00.000Z",
        "is_rollback": True,
        "previous": deployment(2, head_sha=EARLIER),
        "rollback_targets": [deployment(2, head_sha=EARLIER), deployment(1, version="1.2.0")],
        "latest": deployment(4, state="failure"),
        **changes,
    }


def dora(**changes: Any) -> Response:
    return {
        "repo_full_name": "acme/storefront",
        "environment": "production",
        "deployments": 1234,
        "deployments_per_day": 41.13,
        "lead_time_in_ms": {"p50": 5_400_000, "p90": 90_000_000, "count": 1200},
        "failed_deployments": 12,
        "rolled_back_deployments": 3,
        "change_failure_rate": 0.012,
        "time_to_restore_in_ms": {"p50": None, "p90": None, "count": 0},
        "over_time": [],
        **changes,
    }


def measured(*items: Response, **changes: Any) -> Response:
    since, until = "2024-12-16T12:00:00.000Z", "2025-01-15T12:00:00.000Z"
    return {"since": since, "until": until, "truncated": False, "items": list(items), **changes}


def dependent(name: str, status: str, **changes: Any) -> Response:
    return {"name": name, "range": "^2.0.0", "status": status, "depends_on": [], **changes}


def build(**changes: Any) -> Response:
    return {
        "name": PACKAGE,
        "version": "2.1.0",
        "environment": "production",
        "status": "building",
        "total_variants": 30,
        "completed_variants": 12,
        "failed_variants": 1,
        "progress": 0.4,
        "error": True,
        "created_at": "2025-01-15T10:00:00.000Z",
        "updated_at": "2025-01-15T10:01:00.000Z",
        **changes,
    }


def line(**changes: Any) -> Response:
    return {
        "name": PACKAGE,
        "version": "2.1.0",
        "previous_version": "2.0.3",
        "status": "failed",
        "mode": "enforce",
        "published_at": "2025-01-15T10:00:00.000Z",
        "completed_at": "2025-01-15T10:20:00.000Z",
        "total_dependents": 3,
        "finished_dependents": 3,
        "failed_dependents": 2,
        "progress": 1.0,
        "dependents": [
            dependent("@acme/forms", "succeeded", dependent_version="5.0.1", run_id=7_234_567_891),
            dependent("@acme/tables", "failed", run_id=7_234_567_892, message="The run ended with failure"),
            dependent("storefront", "blocked", depends_on=["@acme/forms", "@acme/tables"], message="tables has failed"),
        ],
        "builds": [build()],
        **changes,
    }
