"""What the reconciler and the API share: the runners table, the passes in it, and when a job is stuck."""

from functools import cache

from runledger.model.stuck import Patience
from runledger.platform.clients import client
from runledger.tables.passes import PassesTable
from runledger.tables.runners import RunnersTable
from runledger.wiring.settings import StuckSettings, TableSettings


@cache
def patience() -> Patience:
    settings = StuckSettings.from_environment()
    return Patience(
        queued_minutes=settings.stuck_queued_minutes,
        scheduled_minutes=settings.stuck_scheduled_minutes,
        in_progress_hours=settings.long_running_hours,
        waiting_hours=settings.forgotten_approval_hours,
        runner_requests_at_most=settings.runner_requests_at_most,
    )


@cache
def runners_table() -> RunnersTable:
    settings = TableSettings.of("RUNNERS")
    return RunnersTable(client("dynamodb"), settings.table, retention_days=settings.retention_days)


@cache
def passes() -> PassesTable:
    return PassesTable(client("dynamodb"), TableSettings.of("RUNNERS").table)
