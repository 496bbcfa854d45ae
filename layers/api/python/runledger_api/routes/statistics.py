"""Numbers: of a repository or an installation, by time, and how many jobs are where right now."""

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger import api_runtime, survey, times
from runledger.model import Status
from runledger.statistics import LONGEST_DAYS
from runledger.tables.pages import Span

from runledger_api import parameters
from runledger_api.answers import checked
from runledger_api.models.jobs import Counts
from runledger_api.models.statistics import Repositories, Statistics
from runledger_api.parameters import InstallationId, Repo, Since, Until
from runledger_api.refusals import BadParameter
from runledger_api.visits import visit

router = APIGatewayHttpRouter()


@router.get(
    "/v1/installations/<installation_id>/statistics",
    tags=["statistics"],
    operation_id="getStatistics",
    summary="Statistics of a repository, or of the whole installation",
    description=(
        "Of jobs created in the range, from index pages alone. Percentiles are at most 1 % off. "
        "`truncated` says that the range was too long to finish in time: then the oldest jobs are missing."
    ),
)
def statistics(
    installation_id: InstallationId, repo: Repo = None, since: Since = "7d", until: Until = None
) -> Statistics:
    here = visit(router)
    span = parameters.span(here, since or "7d", until)
    begin, end = span.since or here.now, span.until or here.now
    if begin >= end:
        raise BadParameter("since", "should be in the past")
    if times.ms_between(begin, end) > LONGEST_DAYS * times.SECONDS_PER_DAY * times.MS_PER_SECOND:
        raise BadParameter("since", f"should be at most {LONGEST_DAYS} days before until")
    repositories = [repo] if repo else api_runtime.registry().repositories(installation_id)
    return checked(
        survey.measure(
            api_runtime.job_pages(), installation_id, repositories, since=begin, until=end, has_time=here.has_time
        )
    )


@router.get(
    "/v1/installations/<installation_id>/repositories",
    tags=["statistics"],
    operation_id="listRepositories",
    summary="Repositories with jobs in the range, and how many",
)
def repositories(installation_id: InstallationId, since: Since = None) -> Repositories:
    here = visit(router)
    counts, truncated = survey.count_by_repository(
        api_runtime.job_pages(),
        installation_id,
        api_runtime.registry().repositories(installation_id),
        parameters.span(here, since, None),
        has_time=here.has_time,
    )
    items = [{"repo_full_name": name, "jobs": jobs} for name, jobs in counts.items()]
    return checked({"items": items, "next_cursor": None, "truncated": truncated})


@router.get(
    "/v1/installations/<installation_id>/counts",
    tags=["statistics"],
    operation_id="getCounts",
    summary="How many jobs are in which status",
)
def counts(installation_id: InstallationId) -> Counts:
    pages = api_runtime.job_pages()
    yesterday = Span(since=times.earlier(visit(router).now, seconds=times.SECONDS_PER_DAY))

    def number(status: Status, span: Span = Span()) -> int:  # noqa: B008 - it is frozen
        return pages.count(pages.in_status(installation_id, status), span)

    return {
        "queued": number(Status.QUEUED),
        "waiting": number(Status.WAITING),
        "scheduled": number(Status.SCHEDULED),
        "in_progress": number(Status.IN_PROGRESS),
        "completed_24h": number(Status.COMPLETED, yesterday),
    }
