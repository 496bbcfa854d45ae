"""Runs with their counters and jobs, and re-runs of failed jobs."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model.reports import RunStatus
from runledger.tables.pages import Span
from runledger.tables.runs import with_derived_status

from runledger_api import wiring
from runledger_api.errors import Conflict, NotFound
from runledger_api.models.runs import RerunRequest, RerunRequested, RunWithJobs
from runledger_api.parameters import Attempt, InstallationId, RunId
from runledger_api.responses import checked, job_body

router = APIGatewayHttpRouter()
# GitHub allows 256 jobs in a matrix; a larger run has several matrices.
MAX_JOBS = 1000
PAGE = 100


@router.get(
    "/v1/installations/<installation_id>/runs/<run_id>",
    tags=["runs"],
    operation_id="getRun",
    summary="A run, its counters and its jobs",
    description="If a GitHub App is set up, an unfinished run older than 25 seconds is refreshed from GitHub.",
)
def run(installation_id: InstallationId, run_id: RunId, run_attempt: Attempt = None) -> RunWithJobs:
    attempts, wanted = _attempts(installation_id, run_id, run_attempt)
    jobs = _jobs(installation_id, run_id, wanted)
    return checked(
        {
            "run": with_derived_status(_fresh(installation_id, attempts[wanted]), (job["status"] for job in jobs)),
            "jobs": jobs,
            "attempts": list(attempts),
        }
    )


@router.post(
    "/v1/installations/<installation_id>/runs/<run_id>/rerun",
    tags=["runs"],
    operation_id="rerunFailedJobs",
    summary="Re-run the failed jobs of a run",
    status_code=202,
)
def rerun(
    installation_id: InstallationId, run_id: RunId, body: Annotated[RerunRequest | None, Body()] = None
) -> RerunRequested:
    seen = (body or {}).get("run_attempt")
    _, newest = _attempts(installation_id, run_id, None)
    if seen is not None and seen != newest:
        raise Conflict(f"the newest attempt of run {run_id} is {newest}, not {seen}")
    wiring.github().rerun_failed_jobs(installation_id, run_id, newest)
    return {"installation_id": installation_id, "run_id": run_id, "run_attempt": newest}


def _attempts(installation_id: int, run_id: int, run_attempt: int | None) -> tuple[dict[int, Any], int]:
    attempts = wiring.run_attempts().of(installation_id, run_id)
    wanted = run_attempt or max(attempts, default=0)
    if wanted not in attempts:
        which = f"attempt {run_attempt} of run {run_id}" if run_attempt else f"run {run_id}"
        raise NotFound(f"{which} was not found in installation {installation_id}")
    return attempts, wanted


def _fresh(installation_id: int, run: dict[str, Any]) -> dict[str, Any]:
    if run["status"] == RunStatus.COMPLETED or "repo_full_name" not in run or not wiring.github().may_refresh():
        return run
    cache = wiring.run_cache()
    return cache.get(installation_id, run["repo_full_name"], run["run_id"], run["run_attempt"]) or run


def _jobs(installation_id: int, run_id: int, run_attempt: int) -> list[Any]:
    pages = wiring.job_pages()
    partition, start, jobs = pages.of_run(installation_id, run_id, run_attempt), None, list[Any]()
    while len(jobs) < MAX_JOBS:
        page = pages.page(partition, Span(), newest_first=False, limit=PAGE, start=start)
        jobs += [job_body(job) for job in page.jobs]
        start = page.next_key
        if start is None:
            break
    return jobs
