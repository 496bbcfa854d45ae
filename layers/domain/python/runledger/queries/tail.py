"""The newest events of an installation. No index has them: they are read from the jobs that may have changed."""

from typing import Any

from runledger.model import times
from runledger.model.inputs import Status
from runledger.tables.event_pages import EventPages
from runledger.tables.job_pages import JobPages
from runledger.tables.pages import Span

# Completed jobs are found by creation time: events of a job that took longer than this are missed.
TAIL_LOOKBACK_SECONDS = 6 * times.SECONDS_PER_HOUR
MOST_JOBS = 200
# Events are stored shortly after their timestamp. Without this delay, the next read would miss an event that is stored
# late.
DELAY_SECONDS = 1.0


def newest_events(
    jobs: JobPages, events: EventPages, installation_id: int, *, since: str, now: str, limit: int
) -> tuple[list[dict[str, Any]], str]:
    """Events, oldest first, and the instant at which to continue. No event is returned twice."""
    until = times.earlier(now, seconds=DELAY_SECONDS)
    if until <= since:
        return [], since
    span = Span(since=since, until=until)
    found: list[dict[str, Any]] = []
    for job_id in sorted(_changed(jobs, installation_id, since)):
        found += events.page(installation_id, job_id, span, newest_first=False, limit=limit + 1).items
    ordered = sorted(found, key=lambda event: (event["timestamp"], event["job_id"], event["event_type"]))
    if len(ordered) <= limit:
        return ordered, until
    # A page ends between two milliseconds: the next page starts with the instant at which this one ends.
    next_start = ordered[limit]["timestamp"]
    page = [event for event in ordered if event["timestamp"] < next_start]
    return (page, next_start) if page else (ordered, until)


def _changed(jobs: JobPages, installation_id: int, since: str) -> set[int]:
    recent = Span(since=times.earlier(since, seconds=TAIL_LOOKBACK_SECONDS))
    changed = set()
    for status in Status:
        span = recent if status is Status.COMPLETED else Span()
        for job in jobs.newest(jobs.in_status(installation_id, status), span, at_most=MOST_JOBS).items:
            if job["last_updated_at"] >= since:
                changed.add(job["job_id"])
    return changed
