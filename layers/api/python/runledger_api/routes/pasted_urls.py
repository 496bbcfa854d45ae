"""Finds the job or run that a GitHub URL identifies."""

from collections.abc import Sequence
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model.payload import is_repository_name
from runledger.queries import urls
from runledger.queries.urls import GitHubUrl

from runledger_api import wiring
from runledger_api.errors import InvalidParameter, NotFound
from runledger_api.models.runs import Found
from runledger_api.request import current_request
from runledger_api.responses import job_body

router = APIGatewayHttpRouter()
PastedUrl = Annotated[str, Query(max_length=2000, description="URL of a job or run on GitHub, or its API URL")]


@router.get(
    "/v1/jobs/lookup",
    tags=["jobs"],
    operation_id="lookUpJob",
    summary="Find a job or run by its GitHub URL",
)
def lookup(url: PastedUrl) -> Found:
    pasted = urls.parse(url)
    if pasted is None or not is_repository_name(pasted.repo_full_name):
        raise InvalidParameter("url", "must be the URL of a job or run, such as https://github.com/o/r/actions/runs/1")
    caller = current_request(router).caller
    visible = [each for each in wiring.installations().ids() if caller.sees(each)]
    found = _job(pasted, visible) or _run(pasted, visible)
    if found is None:
        raise NotFound("The ledger has no such job or run")
    return found


def _job(pasted: GitHubUrl, visible: Sequence[int]) -> Any:
    """Looks up the key in every visible installation, because the URL doesn't contain the installation."""
    if pasted.job_id is None:
        return None
    found = wiring.job_pages().among((each, pasted.job_id) for each in visible)
    for job in found.values():
        if job.get("repo_full_name") == pasted.repo_full_name:
            (joined,) = wiring.workflows().joined([job])
            named = {name: job[name] for name in ("run_attempt", "job_id") if name in job}
            return {
                "installation_id": job["installation_id"],
                "run_id": job.get("run_id"),
                **named,
                "job": job_body(joined),
            }
    return None


def _run(pasted: GitHubUrl, visible: Sequence[int]) -> Any:
    if pasted.run_id is None or pasted.job_id is not None:
        return None
    attempts = wiring.run_attempts()
    owner = attempts.first_known(visible, pasted.run_id, repo_full_name=pasted.repo_full_name)
    known = attempts.of(owner, pasted.run_id) if owner is not None else {}
    run = known.get(pasted.run_attempt or max(known, default=0))
    if run is None or run.get("repo_full_name") != pasted.repo_full_name:
        return None
    return {
        "installation_id": owner,
        "run_id": pasted.run_id,
        "run_attempt": run["run_attempt"],
        "run": run,
    }
