"""People paste addresses: which job, or which run, is behind one?"""

from collections.abc import Sequence
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger import api_runtime, urls
from runledger.payload import is_repository_name
from runledger.urls import Pasted

from runledger_api.answers import shown
from runledger_api.models.runs import Found
from runledger_api.refusals import BadParameter, NoSuchThing
from runledger_api.visits import visit

router = APIGatewayHttpRouter()
PastedUrl = Annotated[str, Query(max_length=2000, description="the page of a job or a run on GitHub, or its API URL")]


@router.get(
    "/v1/jobs/lookup",
    tags=["jobs"],
    operation_id="lookUpJob",
    summary="The job or run behind an address of GitHub",
)
def lookup(url: PastedUrl) -> Found:
    pasted = urls.parse(url)
    if pasted is None or not is_repository_name(pasted.repo_full_name):
        raise BadParameter("url", "should be the address of a job or a run, as https://github.com/o/r/actions/runs/1")
    caller = visit(router).caller
    visible = [each for each in api_runtime.installations().ids() if caller.sees(each)]
    found = _job(pasted, visible) or _run(pasted, visible)
    if found is None:
        raise NoSuchThing("the ledger knows of no such job or run")
    return found


def _job(pasted: Pasted, visible: Sequence[int]) -> Any:
    """By key in each installation: a job's id is unique within one only."""
    if pasted.job_id is None:
        return None
    found = api_runtime.job_pages().among((each, pasted.job_id) for each in visible)
    for job in found.values():
        if job.get("repo_full_name") == pasted.repo_full_name:
            named = {name: job[name] for name in ("run_attempt", "job_id") if name in job}
            return {"installation_id": job["installation_id"], "run_id": job.get("run_id"), **named, "job": shown(job)}
    return None


def _run(pasted: Pasted, visible: Sequence[int]) -> Any:
    if pasted.run_id is None or pasted.job_id is not None:
        return None
    attempts = api_runtime.run_attempts()
    owner = attempts.first_known(visible, pasted.run_id)
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
