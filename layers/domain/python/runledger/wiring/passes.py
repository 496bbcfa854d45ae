"""What the reconciler and the API share: when a job is stuck, and the record of passes. Loads nothing of GitHub."""

from functools import cache

from runledger.model.stuck import Patience
from runledger.platform.clients import client
from runledger.tables.passes import PassesTable
from runledger.wiring.recording import setting


@cache
def patience() -> Patience:
    return Patience(
        queued_minutes=int(setting("STUCK_QUEUED_MINUTES")),
        scheduled_minutes=int(setting("STUCK_SCHEDULED_MINUTES")),
        in_progress_hours=int(setting("LONG_RUNNING_HOURS")),
        waiting_hours=int(setting("FORGOTTEN_APPROVAL_HOURS")),
        runner_requests_at_most=int(setting("RUNNER_REQUESTS_AT_MOST")),
    )


@cache
def passes() -> PassesTable:
    return PassesTable(client("dynamodb"), setting("RUNNERS_TABLE"))
