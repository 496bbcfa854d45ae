"""Statistics of one or all repositories of an installation, read page by page until time runs out."""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from runledger.queries.statistics import Statistics
from runledger.tables.job_pages import JobPages
from runledger.tables.pages import Span

HasTime = Callable[[], bool]
# The status of this many open jobs is looked up, 100 per call. Further jobs count as "open".
OPEN_LOOKED_UP = 1000
OPEN = "open"


def measure(
    jobs: JobPages, installation_id: int, repositories: Iterable[str], *, since: str, until: str, has_time: HasTime
) -> dict[str, Any]:
    """`truncated` if time ran out: then the oldest jobs, or the last repositories, are missing."""
    statistics, open_ids, truncated = Statistics(since=since, until=until), list[tuple[int, int]](), False
    span = Span(since=since, until=until)
    for lines in chain.from_iterable(
        jobs.lines(jobs.of_repo(installation_id, repository), span) for repository in repositories
    ):
        for line in lines:
            statistics.add(line)
            if line.conclusion is None and len(open_ids) < OPEN_LOOKED_UP:
                open_ids.append((installation_id, line.job_id))
        if truncated := not has_time():
            break
    statuses = Counter(str(job["status"]) for job in jobs.among(open_ids).values())
    statuses[OPEN] = max(0, statistics.still_open - len(open_ids))
    return statistics.summary(statuses) | {"truncated": truncated}


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
