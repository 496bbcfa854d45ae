"""What the tick of notifications does: the sweep, and digests and reminders that are due."""

from functools import cache

from runledger.model import times
from runledger.notifications.digests import DigestReader
from runledger.notifications.scheduling import Schedules
from runledger.platform.clients import client
from runledger.tables.job_pages import JobPages
from runledger.wiring import notifications
from runledger.wiring.settings import TableSettings
from runledger.wiring.stuck import patience
from runledger.wiring.tables import deployments, jobs


@cache
def schedules() -> Schedules:
    reader = DigestReader(
        jobs=jobs(),
        pages=JobPages(client("dynamodb"), TableSettings.of("JOBS").table),
        deployments=deployments(),
        forgotten_after_seconds=patience().waiting_hours * times.SECONDS_PER_HOUR,
    )
    return Schedules(subscriptions=notifications.subscriptions(), outbox=notifications.outbox(), digest=reader.read)
