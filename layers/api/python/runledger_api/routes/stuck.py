"""Jobs that are where they should not be for so long, and what to do about each."""

from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger import api_runtime, times
from runledger.model import Job, Status
from runledger.reconciliation.stuck import OPEN, stuck_since

from runledger_api.answers import checked, item_of, shown
from runledger_api.models.jobs import StuckJobs
from runledger_api.parameters import InstallationId
from runledger_api.visits import visit

router = APIGatewayHttpRouter()
MOST = 200
ADVICE = {
    Status.QUEUED: "No runner has taken it: look whether one with its labels was launched, and is online.",
    Status.SCHEDULED: "A runner was launched and has not begun: look whether its machine runs and reached GitHub.",
    Status.IN_PROGRESS: "It runs for very long: look at its log, and whether its machine still lives.",
    Status.WAITING: "Nobody has approved its deployment: ask a reviewer of the environment.",
}


@router.get(
    "/v1/installations/<installation_id>/stuck",
    tags=["jobs"],
    operation_id="listStuckJobs",
    summary="Jobs that are stuck, by the patience that the settings say",
)
def stuck(installation_id: InstallationId) -> StuckJobs:
    now = visit(router).now
    found = [each for status in OPEN for each in _in(installation_id, status, now)]
    return checked({"items": sorted(found, key=lambda each: -each["seconds"]), "next_cursor": None})


def _in(installation_id: int, status: Status, now: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for job in api_runtime.jobs().in_status(installation_id, status, created_before=now):
        since = stuck_since(job, now=now, patience=api_runtime.patience())
        if since is not None:
            found.append(_described(job, since, now))
        if len(found) == MOST:
            break
    return found


def _described(job: Job, since: str, now: str) -> dict[str, Any]:
    return {
        "kind": job.status,
        "since": since,
        "seconds": times.ms_between(since, now) // times.MS_PER_SECOND,
        "advice": ADVICE[job.status],
        "job": shown(item_of(job)),
    }
