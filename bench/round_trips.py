"""AWS calls on each path through a function; GitHub waits for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.lives import Life, normal
from bench.report import Entry
from tests.support.webhooks import http_event

if TYPE_CHECKING:
    from bench.bed import Bed
    from bench.meter import Usage

# GetItem, then two writes; a scheduling event needs no read.
LITERAL = {"new_job": 3, "scheduled": 2, "started": 3, "completed": 3}


def paths(bed: Bed) -> dict[str, Usage]:
    """In the order of one job, after another job has warmed the functions."""
    bed.measure(*normal(Life()))
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
    found = {path: bed.measure(step) for path, step in paths.items()}
    bed.throttling = True
    found["deferred"] = bed.measure(Life().webhook("queued"))
    bed.throttling = False
    bed.cold()
    found["new_job_in_a_cold_function"] = bed.measure(Life().webhook("queued"))
    return found


def measure(bed: Bed) -> list[Entry]:
    return [
        Entry(
            key=f"round_trips.{path}",
            value=usage.round_trips,
            baseline=LITERAL.get(path),
            unit="calls",
            how="requests on the wire: " + (_named(usage) or "none"),
        )
        for path, usage in paths(bed).items()
    ]


def _named(usage: Usage) -> str:
    return ", ".join(f"{count} {call.partition('.')[2]}" for call, count in sorted(usage.calls.items()))
