"""AWS calls on each path through a function; GitHub waits for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.lives import Life, normal
from bench.report import Figure
from tests.support.webhooks import http_event

if TYPE_CHECKING:
    from bench.harness import Harness
    from bench.meter import Usage

# GetItem, then two writes; a scheduling event needs no read.
LITERAL = {"new_job": 3, "scheduled": 2, "started": 3, "completed": 3}


def paths(harness: Harness) -> dict[str, Usage]:
    """In the order of one job, after another job has warmed the functions."""
    harness.measure(*normal(Life()))
    job, late = Life(), Life()
    paths = {
        "new_job": job.webhook("queued"),
        "new_job_redelivered": job.webhook("queued", again=1),
        "scheduled": job.scheduled(),
        "started": job.webhook("in_progress"),
        "started_redelivered": job.webhook("in_progress", again=1),
        "started_retried": job.webhook("in_progress"),
        "completed": job.webhook("completed"),
        "told_by_another_hook": job.webhook("queued", hook=1),
        "first_heard_of_when_completed": late.webhook("completed"),
        "ping": ("webhook_intake", http_event(b"{}", event="ping")),
        "event_not_used": ("webhook_intake", http_event(b"{}", event="star")),
        "bad_signature": ("webhook_intake", http_event(b"{}", signature="sha256=0")),
    }
    found = {path: harness.measure(step) for path, step in paths.items()}
    harness.throttling = True
    found["deferred"] = harness.measure(Life().webhook("queued"))
    harness.throttling = False
    harness.clear_caches()
    found["new_job_in_a_cold_function"] = harness.measure(Life().webhook("queued"))
    return found


def measure(harness: Harness) -> list[Figure]:
    return [
        Figure(
            key=f"round_trips.{path}",
            value=usage.round_trips,
            baseline=LITERAL.get(path),
            unit="calls",
            how="requests on the wire: " + (_named(usage) or "none"),
        )
        for path, usage in paths(harness).items()
    ]


def _named(usage: Usage) -> str:
    return ", ".join(f"{count} {call.partition('.')[2]}" for call, count in sorted(usage.calls.items()))
