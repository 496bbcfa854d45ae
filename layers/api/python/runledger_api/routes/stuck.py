"""Jobs that have been in one status for too long, with advice for each."""

from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model import times
from runledger.model.inputs import Status
from runledger.model.job import Job
from runledger.model.stuck import OPEN, stuck_since

from runledger_api import wiring
from runledger_api.models.jobs import StuckJobs
from runledger_api.parameters import InstallationId
from runledger_api.request import current_request
from runledger_api.responses import checked, job_body, job_item

router = APIGatewayHttpRouter()
MAX_PER_STATUS = 200
ADVICE = {
    Status.QUEUED: "No runner has started this job. Check that a runner with its labels was launched and is online.",
    Status.SCHEDULED: "A runner was launched but hasn't started. Check that its machine runs and can reach GitHub.",
    Status.IN_PROGRESS: "This job has been running unusually long. Check its log, and that its machine is running.",
    Status.WAITING: "Its deployment hasn't been approved. Ask a reviewer of the environment.",
}


@router.get(
    "/v1/installations/<installation_id>/stuck",
    tags=["jobs"],
    operation_id="listStuckJobs",
    summary="Jobs that have been in one status for longer than the configured limit",
)
def stuck(installation_id: InstallationId) -> StuckJobs:
    now = current_request(router).now
    found = [each for status in OPEN for each in _stuck_in(installation_id, status, now)]
    return checked({"items": sorted(found, key=lambda each: -each["seconds"]), "next_cursor": None})


def _stuck_in(installation_id: int, status: Status, now: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for job in wiring.jobs().in_status(installation_id, status, created_before=now):
        since = stuck_since(job, now=now, patience=wiring.patience())
        if since is not None:
            found.append(_stuck_body(job, since, now))
        if len(found) == MAX_PER_STATUS:
            break
    return found


def _stuck_body(job: Job, since: str, now: str) -> dict[str, Any]:
    return {
        "kind": job.status,
        "since": since,
        "seconds": times.ms_between(since, now) // times.MS_PER_SECOND,
        "advice": ADVICE[job.status],
        "job": job_body(job_item(job)),
    }
