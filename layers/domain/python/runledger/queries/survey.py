"""Statistics of an installation, or of one of its repositories, read page by page until time runs out."""

from collections.abc import Callable, Iterable
from typing import Any

from runledger.model import times
from runledger.model.stuck import OPEN
from runledger.queries.statistics import Statistics
from runledger.queries.usage import Usage
from runledger.tables.job_pages import JobPages
from runledger.tables.pages import Span

HasTime = Callable[[], bool]
# The longest time that GitHub lets a job run on a team's own runner. A job that was running in the range has completed
# at most this long after it, or is still running.
LONGEST_RUN_SECONDS = 5 * times.SECONDS_PER_DAY


def measure(
    jobs: JobPages,
    installation_id: int,
    *,
    repo_full_name: str | None = None,
    since: str,
    until: str,
    now: str,
    has_time: HasTime,
) -> dict[str, Any]:
    """`truncated` if time ran out: then some open jobs, or those that completed first, are missing."""
    statistics, truncated = Statistics(since=since, until=until), False
    for status in OPEN:
        found, cut_off = jobs.every(jobs.in_status(installation_id, status), has_time=has_time)
        truncated |= cut_off
        for job in found:
            if repo_full_name in (None, job.get("repo_full_name")):
                usage = Usage.so_far(job, now)
                statistics.add_open(status=job["status"], created_at=job["created_at"], usage=usage)
    for page in jobs.completed_jobs(installation_id, completed_span(since, until), repo_full_name=repo_full_name):
        for completed in page:
            statistics.add_completed(completed)
        if not has_time():
            truncated = True
            break
    return statistics.summary() | {"truncated": truncated}


def completed_span(since: str, until: str) -> Span:
    """When jobs that ran between `since` and `until` can have completed."""
    return Span(since=since, until=times.earlier(until, seconds=-LONGEST_RUN_SECONDS))


def count_by_repository(
    jobs: JobPages, installation_id: int, repositories: Iterable[str], span: Span, *, has_time: HasTime
) -> tuple[dict[str, int], bool]:
    """The number of jobs of each repository that has any, and whether time ran out before the last repository."""
    counts: dict[str, int] = {}
    for repository in repositories:
        if not has_time():
            return counts, True
        if found := jobs.count(jobs.of_repo(installation_id, repository), span):
            counts[repository] = found
    return counts, False
