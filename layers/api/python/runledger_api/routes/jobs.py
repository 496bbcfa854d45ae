"""Jobs by status, repository or run; a single job; and its history."""

from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model.inputs import Status
from runledger.model.keys import RunKey
from runledger.model.payload import LARGEST_ID
from runledger.tables import schema
from runledger.tables.pages import Partition, Span

from runledger_api import parameters, wiring
from runledger_api.errors import InvalidParameter, NotFound
from runledger_api.models.jobs import EventList, Job, JobList
from runledger_api.pagination import Paginator
from runledger_api.parameters import (
    INSTALLATION,
    Attempt,
    Cursor,
    InstallationId,
    JobId,
    Limit,
    Order,
    Repo,
    Since,
    Until,
)
from runledger_api.request import current_request
from runledger_api.responses import job_body

router = APIGatewayHttpRouter()
StatusName = Literal["queued", "waiting", "scheduled", "in_progress", "completed"]
Conclusion = Literal[
    "success",
    "failure",
    "cancelled",
    "skipped",
    "timed_out",
    "startup_failure",
    "action_required",
    "neutral",
    "stale",
]
Day = Annotated[str | None, Query(pattern=parameters.DATE, description="only events of this day, in UTC")]


@router.get(
    f"{INSTALLATION}/jobs",
    tags=["jobs"],
    operation_id="listJobs",
    summary="Jobs by status, repository or run",
    description=(
        "Pass at least one of status, repo and run_id; run_attempt only together with run_id. `since` and `until` "
        "filter by creation time. With `range_of=completed`, they filter by completion time, and jobs that a re-run "
        "carried over are omitted. `next_cursor` is null if no other job matches. If matches are rare, a page may be "
        "short and still have a `next_cursor`."
    ),
)
def jobs(
    *,
    installation_id: InstallationId,
    status: Annotated[StatusName | None, Query()] = None,
    repo: Repo = None,
    run_id: Annotated[int | None, Query(ge=0, le=LARGEST_ID)] = None,
    run_attempt: Attempt = None,
    conclusion: Annotated[Conclusion | None, Query()] = None,
    range_of: Annotated[
        Literal["created", "completed"], Query(description="the time that since and until filter by")
    ] = "created",
    since: Since = None,
    until: Until = None,
    order: Order = "newest",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> JobList:
    request = current_request(router)
    if status is None and repo is None and run_id is None:
        raise InvalidParameter("status, repo, run_id", "are missing: pass at least one of them")
    if range_of == "completed" and (run_id is not None or status not in (None, "completed")):
        raise InvalidParameter("range_of", "can be completed only with repo or with the status completed")
    if run_attempt is not None and run_id is None:
        raise InvalidParameter("run_attempt", "requires run_id")
    paginator = Paginator(wiring.cursors(), request, cursor, parameters.span(request, since, until))
    if range_of == "completed":
        partition: Partition | None = wiring.job_pages().completed(installation_id)
    elif run_id is not None and paginator.start:
        # A newer attempt may have begun since the first page.
        partition = Partition(index=schema.BY_RUN, value=paginator.start[schema.BY_RUN.partition])
    else:
        partition = _partition(installation_id, status, repo, run_id, run_attempt)
    if partition is None:
        return {"items": [], "next_cursor": None}
    wanted = {"status": status, "repo_full_name": repo, "conclusion": conclusion}
    found = wiring.job_pages().page(
        partition,
        paginator.span,
        newest_first=order == "newest",
        limit=limit,
        start=paginator.start,
        matches=lambda job: all(value in (None, job.get(name)) for name, value in wanted.items()),
    )
    jobs = wiring.workflows().joined(found.items)
    return paginator.page([job_body(job) for job in jobs], found.next_key)


def _partition(
    installation_id: int, status: str | None, repo: str | None, run_id: int | None, run_attempt: int | None
) -> Partition | None:
    """The partition with the fewest jobs that don't match."""
    pages = wiring.job_pages()
    if run_id is not None:
        if run_attempt is None:
            run_attempt = max(wiring.run_attempts().of(installation_id, run_id), default=None)
        return None if run_attempt is None else pages.of_run(RunKey(installation_id, run_id, run_attempt))
    if status is not None and status != Status.COMPLETED:
        return pages.in_status(installation_id, Status(status))
    if repo is not None:
        return pages.of_repo(installation_id, repo)
    assert status is not None
    return pages.in_status(installation_id, Status(status))


@router.get(
    f"{INSTALLATION}/jobs/<job_id>",
    tags=["jobs"],
    operation_id="getJob",
    summary="One job",
)
def job(installation_id: InstallationId, job_id: JobId) -> Job:
    (joined,) = wiring.workflows().joined([_found(installation_id, job_id)])
    return job_body(joined)


@router.get(
    f"{INSTALLATION}/jobs/<job_id>/events",
    tags=["jobs"],
    operation_id="listEvents",
    summary="A job's history",
)
def events(
    *,
    installation_id: InstallationId,
    job_id: JobId,
    day: Day = None,
    order: Order = "oldest",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> EventList:
    request = current_request(router)
    paginator = Paginator(wiring.cursors(), request, cursor, parameters.day_span(day) if day else Span())
    found = wiring.event_pages().page(
        installation_id, job_id, paginator.span, newest_first=order == "newest", limit=limit, start=paginator.start
    )
    if not found.items and not cursor:
        _found(installation_id, job_id)
    return paginator.page(found.items, found.next_key)


def _found(installation_id: int, job_id: int) -> Any:
    found = wiring.job_pages().get(installation_id, job_id)
    if found is None:
        raise NotFound(f"Job {job_id} was not found in installation {installation_id}")
    return found
