"""The newest events of an installation. No index knows them, so they are those of the jobs that may have changed."""

from typing import Any

from runledger.model import times
from runledger.model.job import Status
from runledger.tables.event_pages import EventPages
from runledger.tables.job_pages import JobPages
from runledger.tables.pages import Span

# A completed job is found by its creation; one that took longer than this is missed by whoever looks only afterwards.
LONGEST_LIFE_SECONDS = 6 * 3600
JOBS_LOOKED_AT = 200
# An event is recorded a moment after it was received: whoever reads up to now would never see one that came late.
SETTLED_SECONDS = 1.0


def newest_events(
    jobs: JobPages, events: EventPages, installation_id: int, *, since: str, now: str, limit: int
) -> tuple[list[dict[str, Any]], str]:
    """Oldest first, and the instant from which to go on: no event is told twice."""
    until = times.earlier(now, seconds=SETTLED_SECONDS)
    if until <= since:
        return [], since
    span = Span(since=since, until=until)
    found: list[dict[str, Any]] = []
    for job_id in sorted(_changed(jobs, installation_id, since)):
        found += events.page(installation_id, job_id, span, newest_first=False, limit=limit + 1).events
    told = sorted(found, key=lambda event: (event["timestamp"], event["job_id"], event["event_type"]))
    if len(told) <= limit:
        return told, until
    # Whole milliseconds: the next page begins with the instant at which this one is cut.
    cut_at = told[limit]["timestamp"]
    whole = [event for event in told if event["timestamp"] < cut_at]
    return (whole, cut_at) if whole else (told, until)


def _changed(jobs: JobPages, installation_id: int, since: str) -> set[int]:
    recent = Span(since=times.earlier(since, seconds=LONGEST_LIFE_SECONDS))
    changed = set()
    for status in Status:
        span = recent if status is Status.COMPLETED else Span()
        for job in jobs.newest(jobs.in_status(installation_id, status), span, at_most=JOBS_LOOKED_AT).jobs:
            if job["last_updated_at"] >= since:
                changed.add(job["job_id"])
    return changed
