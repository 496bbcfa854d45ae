"""Responses of the API, as its OpenAPI document describes them: one interrupted job, and what belongs to it."""

from typing import Any

INSTALLATION, JOB, RUN = 42, 41_234_567_890, 7_234_567_890
ORPHAN = "arn:aws:ecs:eu-west-1:123456789012:task/runners/0123abcd"
PASS = "full-2025-01-15T10-30"
SUBSCRIPTION, MESSAGE = "a1b2" + "0" * 28, "3b9c" + "0" * 28
OTHER_SUBSCRIPTION = "a1c3" + "0" * 28
PAGE = f"https://github.com/acme/api/actions/runs/{RUN}/job/{JOB}"

Response = dict[str, Any]


def job(**changes: object) -> Response:
    return {
        "installation_id": INSTALLATION,
        "job_id": JOB,
        "run_id": RUN,
        "run_attempt": 1,
        "repo_full_name": "acme/api",
        "workflow_id": 8_123_456,
        "workflow_name": "CI",
        "job_name": "🚀 build",
        "head_branch": "main",
        "head_sha": "1a2b3c4d5e6f",
        "job_html_url": PAGE,
        "status": "completed",
        "conclusion": "failure",
        "created_at": "2025-01-15T10:00:00.000Z",
        "received_at": "2025-01-15T10:00:01.200Z",
        "scheduled_at": "2025-01-15T10:00:31.200Z",
        "started_at": "2025-01-15T10:02:00.000Z",
        "completed_at": "2025-01-15T10:12:03.000Z",
        "interrupted_at": "2025-01-15T10:10:00.000Z",
        "was_interrupted": True,
        "runner_name": "runs-on--i-0abc--x",
        "instance_id": "i-0abc",
        "instance_type": "c7i.large",
        "instance_lifecycle": "spot",
        "pool_name": "linux-x64",
        "price_per_hour": 0.0357,
        "saved_in_dollars": 0.009,
        "usage_in_seconds": 603,
        "usage_in_dollars": 0.00598,
        "overall_queue_duration_in_ms": 120_000,
        "labels": ["self-hosted", "linux"],
        **changes,
    }


def event(event_type: str, timestamp: str, **more: object) -> Response:
    return {
        "installation_id": INSTALLATION,
        "job_id": JOB,
        "event_type": event_type,
        "timestamp": timestamp,
        "status": "queued",
        "source": "github_webhook",
        "delivery_id": f"of {event_type}",
        **more,
    }


EVENTS = [
    event("webhook_queued", "2025-01-15T10:00:01.200Z", changes={"status": {"to": "queued"}}),
    event("webhook_queued", "2025-01-15T10:00:05.000Z", duplicate=True),
    event("runner_attached", "2025-01-15T10:01:30.000Z"),
    event(
        "webhook_in_progress",
        "2025-01-15T10:02:01.000Z",
        status="in_progress",
        changes={
            "status": {"from": "scheduled", "to": "in_progress"},
            "started_at": {"to": "2025-01-15T10:02:00.000Z"},
        },
    ),
    event("runner_interrupted", "2025-01-15T10:10:00.000Z", status="in_progress"),
    event("job_reconciled", "2025-01-15T10:15:00.000Z", status="completed"),
]

RUN_RESPONSE: Response = {
    "run": {
        "installation_id": INSTALLATION,
        "run_id": RUN,
        "run_attempt": 2,
        "repo_full_name": "acme/api",
        "workflow_name": "CI",
        "head_branch": "main",
        "status": "completed",
        "conclusion": "failure",
        "created_at": "2025-01-15T10:00:00.000Z",
        "total_jobs": 3,
        "completed_jobs": 3,
        "failed_jobs": 1,
    },
    "jobs": [job(run_attempt=2)],
    "attempts": [1, 2],
}

POOLS: Response = {
    "items": [
        {
            "pool_name": "small",
            "instance_type": "c7g.large",
            "jobs": 1_200,
            "runners_active": 4,
            "busy": 3,
            "seconds_used": 123_456,
            "usage_in_dollars": 12.5,
            "unpriced_seconds": 7_200,
            "spot_share": 0.61,
            "utilisation": 0.75,
        },
        {
            "pool_name": "spare",
            **dict.fromkeys(
                ("jobs", "runners_active", "busy", "seconds_used", "usage_in_dollars", "unpriced_seconds"), 0
            ),
            "spot_share": None,
            "utilisation": None,
        },
    ],
    "next_cursor": None,
    "truncated": True,
}

_QUANTILES = {"p50": 12.3, "p90": 63, "p99": 3_725, "max": 100_000, "count": 1_200}
STATISTICS: Response = {
    "since": "2025-01-14T10:00:00.000Z",
    "until": "2025-01-15T10:00:00.000Z",
    "jobs": 1_234,
    "by_status": {"completed": 1_200, "in_progress": 34, "queued": 0},
    "by_conclusion": {"success": 1_100, "failure": 100},
    "succeeded": 1_100,
    "failed": 100,
    "success_rate": 0.9167,
    "queue_seconds": _QUANTILES,
    "duration_seconds": {"p50": None, "p90": None, "p99": None, "max": None, "count": 0},
    "usage_in_seconds": 123_456,
    "usage_in_dollars": 1_234.5,
    "unpriced_seconds": 111_600,
    "spot": {"share": 0.61, "savings_in_dollars": 700.25},
    "interruptions": 3,
    "series": [
        {
            "start": "2025-01-14T10:00:00.000Z",
            "jobs": 50,
            "completed": 49,
            "succeeded": 46,
            "failed": 2,
            "queue_p50": 12,
            "queue_p90": 60,
            "duration_p50": 240,
            "duration_p90": 600,
            "usage_in_dollars": 4.2,
            "unpriced_seconds": 0,
        }
    ],
    "slowest": [
        {"repo_full_name": "acme/api", "workflow_name": "CI", "job_name": "e2e", "jobs": 40, "p90_seconds": 3_725}
    ],
    "costliest": [{"workflow_name": "Nightly", "usage_in_dollars": 99.5, "jobs": 7}],
    "truncated": False,
}

STUCK: Response = {
    "items": [
        {
            "kind": "queued",
            "since": "2025-01-15T10:00:00.000Z",
            "seconds": 4_000,
            "job": job(status="queued"),
            "advice": "no runner has been scheduled: ask the launcher",
        }
    ],
    "next_cursor": None,
}

ORPHANS: Response = {
    "orphans": [
        {
            "runner_id": ORPHAN,
            "kind": "ecs",
            "job_id": JOB,
            "pool_name": "linux-x64",
            "reason": "its job is completed",
            "detected_at": "2025-01-15T10:15:00.000Z",
            "due_at": "2025-01-15T10:25:00.000Z",
            "created_at": "2025-01-15T10:00:00.000Z",
            "status": "active",
            "run_id": RUN,
            "job_status": "completed",
            "job_conclusion": "success",
            "machine_state": "running",
        }
    ],
    "total": 1,
}


def installations(*ids: int) -> Response:
    items = [
        {
            "installation_id": each,
            "org_name": f"org-{each}",
            "status": "active",
            "first_seen_at": "2025-01-01T00:00:00.000Z",
        }
        for each in ids
    ]
    return {"items": items, "next_cursor": None}


def problem(status: int, title: str, detail: str, **more: object) -> Response:
    return {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}


def subscription(subscription_id: str = SUBSCRIPTION, name: str = "Failures", **more: Any) -> Response:
    return {
        "subscription_id": subscription_id,
        "name": name,
        "kind": "slack",
        "config": {},
        "types": ["job.failed", "job.stuck"],
        **{name: [] for name in ("repositories", "branches", "conclusions")},
        "enabled": True,
        "has_secret": True,
        "created_at": "2025-01-15T10:00:00.000Z",
        "created_by": "token:me",
        "updated_at": "2025-01-15T10:00:00.000Z",
        "version": 1,
        "health": {"status": "healthy", "failures": 0, "succeeded_at": "2025-01-15T11:00:00.000Z"},
        **more,
    }


def two_subscriptions() -> Response:
    digest = subscription(
        OTHER_SUBSCRIPTION,
        "Digest",
        enabled=False,
        types=[],
        at_most_per_hour=5,
        branches=["main"],
        schedule={"every": "weekly", "hour": 9, "weekday": "friday", "timezone": "UTC"},
    )
    return {"items": [subscription(), digest], "next_cursor": None}


def message(status: str = "queued", **more: Any) -> Response:
    return {
        "message_id": MESSAGE,
        "subscription_id": SUBSCRIPTION,
        "message_type": "job.failed",
        "status": status,
        "created_at": "2025-01-15T10:00:00.000Z",
        "created_by": "feed",
        "updated_at": "2025-01-15T10:00:00.000Z",
        "correlation_id": "c1",
        "retry_count": 0,
        **more,
    }
