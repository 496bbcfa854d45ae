"""Statistics of a repository or an installation, and current job counts."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model import times
from runledger.model.inputs import Status
from runledger.queries import statistics_reader
from runledger.queries.statistics import LONGEST_DAYS
from runledger.tables.pages import Span

from runledger_api import parameters, wiring
from runledger_api.errors import InvalidParameter
from runledger_api.models.jobs import Counts
from runledger_api.models.statistics import Repositories, Statistics
from runledger_api.parameters import INSTALLATION, InstallationId, Repo, Since, Until
from runledger_api.request import current_request
from runledger_api.responses import untyped

router = APIGatewayHttpRouter()

Completed = Annotated[
    bool,
    Query(description="false omits `completed_24h`, which takes most of the read units: it reads every job of a day"),
]


@router.get(
    f"{INSTALLATION}/statistics",
    tags=["statistics"],
    operation_id="getStatistics",
    summary="Statistics of a repository, or of the whole installation",
    description=(
        "Rates and percentiles cover jobs that completed in the range; cost covers what ran in the range, including "
        "running jobs so far. docs/definitions.md defines each figure. Percentiles are exact for up to 1,000 jobs, and "
        "at most 1 % off for more. `truncated` is true if the range was too large to read in time. The earliest "
        "completed jobs are then missing; for a range in the past, jobs that waited for days may be missing instead."
    ),
)
def statistics(
    installation_id: InstallationId, repo: Repo = None, since: Since = "7d", until: Until = None
) -> Statistics:
    request = current_request(router)
    begin, end = parameters.measured_range(request, since or "7d", until)
    if times.ms_between(begin, end) > LONGEST_DAYS * times.SECONDS_PER_DAY * times.MS_PER_SECOND:
        raise InvalidParameter("since", f"must be at most {LONGEST_DAYS} days before until")
    return untyped(
        statistics_reader.measure(
            wiring.job_pages(),
            installation_id,
            repo_full_name=repo,
            since=begin,
            until=end,
            now=request.now,
            has_time=request.has_time,
        )
    )


@router.get(
    f"{INSTALLATION}/repositories",
    tags=["statistics"],
    operation_id="listRepositories",
    summary="Repositories with jobs in the range, and their number of jobs",
    description=(
        "`jobs` counts jobs created since then, except those that a re-run carried over. If `truncated` is true, there "
        "were too many jobs to read in time, and counts are too low. Without `since`, every repository is listed even "
        "then."
    ),
)
def repositories(installation_id: InstallationId, since: Since = None) -> Repositories:
    request = current_request(router)
    begin = parameters.span(request, since, None).since
    counts, truncated = statistics_reader.count_by_repository(
        wiring.job_pages(), installation_id, since=begin, has_time=request.has_time
    )
    if truncated and begin is None:
        counts = dict.fromkeys(wiring.registry().repositories(installation_id), 0) | counts
    items = [{"repo_full_name": name, "jobs": jobs} for name, jobs in counts.items()]
    return untyped({"items": items, "next_cursor": None, "truncated": truncated})


@router.get(
    f"{INSTALLATION}/counts",
    tags=["statistics"],
    operation_id="getCounts",
    summary="Number of jobs in each status, and of jobs that completed in the last 24 hours",
)
def counts(installation_id: InstallationId, completed: Completed = True) -> Counts:
    pages = wiring.job_pages()
    yesterday = Span(since=times.earlier(current_request(router).now, seconds=times.SECONDS_PER_DAY))

    def number(status: Status) -> int:
        return pages.count(pages.in_status(installation_id, status))

    found: Counts = {
        "queued": number(Status.QUEUED),
        "waiting": number(Status.WAITING),
        "scheduled": number(Status.SCHEDULED),
        "in_progress": number(Status.IN_PROGRESS),
    }
    if completed:
        found["completed_24h"] = pages.count(pages.completed(installation_id), yesterday)
    return found
