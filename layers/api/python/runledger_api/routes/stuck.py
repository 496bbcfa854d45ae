"""Jobs that have been in one status for too long, with advice for each."""

from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model import times
from runledger.model.inputs import Status
from runledger.model.job import Job
from runledger.model.stuck import ADVICE, OPEN, stuck_since

from runledger_api import wiring
from runledger_api.models.jobs import StuckJobs
from runledger_api.parameters import INSTALLATION, InstallationId
from runledger_api.request import Request, current_request
from runledger_api.responses import job_body, job_item, untyped

router = APIGatewayHttpRouter()
MAX_PER_STATUS = 200


@router.get(
    f"{INSTALLATION}/stuck",
    tags=["jobs"],
    operation_id="listStuckJobs",
    summary="Jobs that have been in one status for longer than the configured limit",
    description="The oldest 200 jobs in each status; `truncated` is true if there are more.",
)
def stuck(installation_id: InstallationId) -> StuckJobs:
    request = current_request(router)
    found: list[dict[str, Any]] = []
    truncated = False
    for status in OPEN:
        items, cut_off = _stuck_in(installation_id, status, request)
        found += items
        truncated |= cut_off
    items = sorted(found, key=lambda each: -each["seconds"])
    return untyped({"items": items, "next_cursor": None, "truncated": truncated})


def _stuck_in(installation_id: int, status: Status, request: Request) -> tuple[list[dict[str, Any]], bool]:
    """The oldest jobs come first, so the ones that are cut off are the youngest."""
    found: list[dict[str, Any]] = []
    for job in wiring.jobs().in_status(installation_id, status, created_before=request.now):
        since = stuck_since(job, now=request.now, thresholds=wiring.stuck_thresholds())
        if since is None:
            continue
        if len(found) == MAX_PER_STATUS or not request.has_time():
            return found, True
        found.append(_stuck_body(job, since, request.now))
    return found, False


def _stuck_body(job: Job, since: str, now: str) -> dict[str, Any]:
    return {
        "kind": job.status,
        "since": since,
        "seconds": times.ms_between(since, now) // times.MS_PER_SECOND,
        "advice": ADVICE[job.status],
        "job": job_body(job_item(job)),
    }
