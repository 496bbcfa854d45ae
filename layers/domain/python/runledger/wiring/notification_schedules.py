"""The schedules of notifications: digests and reminders."""

import time
from functools import cache

from runledger.notifications.digest_reader import DigestReader
from runledger.notifications.scheduling import Schedules
from runledger.platform.clients import client
from runledger.tables.job_pages import JobPages
from runledger.wiring import notifications
from runledger.wiring.settings import TableSettings
from runledger.wiring.stuck import stuck_thresholds
from runledger.wiring.tables import deployments, jobs


@cache
def schedules() -> Schedules:
    reader = DigestReader(
        jobs=jobs(),
        pages=JobPages(client("dynamodb"), TableSettings.of("JOBS").table),
        deployments=deployments(),
        forgotten_approval_hours=stuck_thresholds().forgotten_approval_hours,
    )
    return Schedules(
        subscriptions=notifications.subscriptions(),
        outbox=notifications.outbox(),
        digests=reader,
        clock=time.monotonic,
    )
