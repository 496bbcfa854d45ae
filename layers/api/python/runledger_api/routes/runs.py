"""Runs with their counters and jobs, and re-runs of failed jobs."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model.keys import NEWEST_ATTEMPT, RunKey
from runledger.model.reports import RunStatus
from runledger.model.runs import with_derived_status
from runledger.queries.workflows import of_run

from runledger_api import wiring
from runledger_api.authentication import Role
from runledger_api.authorization import requires
from runledger_api.errors import Conflict, NotFound
from runledger_api.github_lookups import look_up
from runledger_api.models.runs import RerunRequest, RerunRequested, RunWithJobs
from runledger_api.parameters import INSTALLATION, Attempt, InstallationId, LookupRepo, RunId
from runledger_api.request import current_request
from runledger_api.responses import job_body, untyped

router = APIGatewayHttpRouter()


@router.get(
    f"{INSTALLATION}/runs/<run_id>",
    tags=["runs"],
    operation_id="getRun",
    summary="A run, its counters and its jobs",
    description=(
        "If a GitHub App is set up, an unfinished run older than 25 seconds is refreshed from GitHub, and a run or "
        "attempt that the ledger doesn't have is looked up there. Pass `repo` if the ledger has no attempt of the run."
    ),
)
def run(
    installation_id: InstallationId, run_id: RunId, run_attempt: Attempt = None, repo: LookupRepo = None
) -> RunWithJobs:
    attempts, wanted = _attempts(installation_id, run_id, run_attempt, repo)
    key = RunKey(installation_id, run_id, wanted)
    jobs = _jobs(key)
    found = with_derived_status(_fresh(key, attempts[wanted]), (job["status"] for job in jobs))
    return untyped(
        {
            "run": found,
            "jobs": [of_run(job, found) for job in jobs],
            "attempts": list(attempts),
        }
    )


@router.post(
    f"{INSTALLATION}/runs/<run_id>/rerun",
    tags=["runs"],
    operation_id="rerunFailedJobs",
    summary="Re-run the failed jobs of a run",
    description="Requires the role operator.",
    status_code=202,
)
@requires(Role.OPERATOR)
def rerun(
    installation_id: InstallationId, run_id: RunId, body: Annotated[RerunRequest | None, Body()] = None
) -> RerunRequested:
    seen = (body or {}).get("run_attempt")
    _, newest = _attempts(installation_id, run_id, None)
    if seen is not None and seen != newest:
        raise Conflict(f"The newest attempt of run {run_id} is {newest}, not {seen}")
    wiring.github().rerun_failed_jobs(RunKey(installation_id, run_id, newest))
    return {"installation_id": installation_id, "run_id": run_id, "run_attempt": newest}


def _attempts(
    installation_id: int, run_id: int, run_attempt: int | None, repo: str | None = None
) -> tuple[dict[int, Any], int]:
    attempts = wiring.run_attempts().of(installation_id, run_id)
    wanted = run_attempt or max(attempts, default=NEWEST_ATTEMPT)
    if wanted not in attempts:
        attempts = _with_looked_up(attempts, RunKey(installation_id, run_id, wanted), repo)
        wanted = run_attempt or max(attempts, default=NEWEST_ATTEMPT)
    if wanted not in attempts:
        which = f"Attempt {run_attempt} of run {run_id}" if run_attempt else f"Run {run_id}"
        raise NotFound(f"{which} was not found in installation {installation_id}")
    return attempts, wanted


def _with_looked_up(attempts: dict[int, Any], key: RunKey, repo: str | None) -> dict[int, Any]:
    """The lookup of the newest attempt writes an item under the attempt's own number: it is found by reading again."""
    known = (run["repo_full_name"] for run in attempts.values() if "repo_full_name" in run)
    found = look_up(wiring.run_cache(), key, next(known, repo))
    if key.run_attempt == NEWEST_ATTEMPT:
        return wiring.run_attempts().of(key.installation_id, key.run_id)
    return dict(sorted({**attempts, **({key.run_attempt: found} if found else {})}.items()))


def _fresh(key: RunKey, run: dict[str, Any]) -> dict[str, Any]:
    if run["status"] == RunStatus.COMPLETED or "repo_full_name" not in run or not wiring.github().may_refresh():
        return run
    return wiring.run_cache().get(key, run["repo_full_name"]) or run


def _jobs(run: RunKey) -> list[Any]:
    pages = wiring.job_pages()
    jobs, _ = pages.every(pages.of_run(run), has_time=current_request(router).has_time)
    return [job_body(job) for job in jobs]
