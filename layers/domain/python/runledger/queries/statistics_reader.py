"""Statistics of an installation, or of one of its repositories, read page by page until time runs out."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from runledger.model import times
from runledger.model.completed_job import CompletedJob
from runledger.model.stuck import OPEN
from runledger.queries.statistics import Statistics
from runledger.queries.usage import Usage
from runledger.tables.job_pages import HasTime, JobPages
from runledger.tables.pages import Span

# The longest time that GitHub lets a job run on a self-hosted runner. A job that ran in the range completed at most
# this long after the range, or is still running.
LONGEST_RUN_SECONDS = 5 * times.SECONDS_PER_DAY
# The longest time from a job's creation to its completion: GitHub ends an approval after 30 days, a job without a
# runner after one, and a running one after five. So a job that was created in the range completed at most this long
# after the range, or is still open.
LONGEST_OPEN_SECONDS = (30 + 1) * times.SECONDS_PER_DAY + LONGEST_RUN_SECONDS


def measure(
    jobs: JobPages,
    installation_id: int,
    *,
    repo_full_name: str | None = None,
    since: str,
    until: str,
    now: str,
    has_time: HasTime,
    observe: Callable[[CompletedJob], None] | None = None,
) -> dict[str, Any]:
    """The result is `truncated` if time ran out: then some open jobs, or the earliest completed jobs, are missing.

    `observe` is called with each completed job that is read.
    """
    statistics, truncated = Statistics(since=since, until=until), False
    for status in OPEN:
        found, cut_off = jobs.every(jobs.in_status(installation_id, status), has_time=has_time)
        truncated |= cut_off
        for job in found:
            if repo_full_name in (None, job.get("repo_full_name")):
                usage = Usage.so_far(job, now)
                statistics.add_open(status=job["status"], created_at=job["created_at"], usage=usage)
    for page in _completed_pages(jobs, installation_id, repo_full_name, since=since, until=until, now=now):
        for completed in page:
            statistics.add_completed(completed)
            if observe is not None:
                observe(completed)
        if not has_time():
            truncated = True
            break
    return statistics.summary() | {"truncated": truncated}


def _completed_pages(
    jobs: JobPages, installation_id: int, repo_full_name: str | None, *, since: str, until: str, now: str
) -> Iterator[list[CompletedJob]]:
    """Every completed job that ran or was created in the range. Few of the jobs that completed long after the range
    were created in it, so DynamoDB filters them.
    """
    ran = completed_span(since, until)
    yield from jobs.completed_jobs(installation_id, ran, repo_full_name=repo_full_name)
    if ran.until is not None and ran.until <= now:
        waited = Span(since=ran.until, until=times.later(until, seconds=LONGEST_OPEN_SECONDS))
        yield from jobs.completed_jobs(installation_id, waited, repo_full_name=repo_full_name, created_before=until)


def completed_span(since: str, until: str) -> Span:
    """The span in which jobs that ran between `since` and `until` can have completed."""
    return Span(since=since, until=times.later(until, seconds=LONGEST_RUN_SECONDS))


def count_by_repository(
    jobs: JobPages, installation_id: int, *, since: str | None, has_time: HasTime
) -> tuple[dict[str, int], bool]:
    """The number of jobs that were created since then, by repository, and whether time ran out.

    Reads the index of completed jobs, because the index of repositories also lists carried-over jobs.
    """
    counts, truncated = Counter[str](), False
    for status in OPEN:
        found, cut_off = jobs.every(jobs.in_status(installation_id, status), has_time=has_time)
        truncated |= cut_off
        counts.update(
            job["repo_full_name"] for job in found if "repo_full_name" in job and job["created_at"] >= (since or "")
        )
    for page in jobs.completed_jobs(installation_id, Span(since=since)):
        counts.update(
            job.repo_full_name for job in page if job.repo_full_name is not None and job.created_at >= (since or "")
        )
        if not has_time():
            truncated = True
            break
    return dict(sorted(counts.items())), truncated
