"""Limits in jobs per second: each quota divided by the usage of a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.bill import BILLED_SECONDS
from stacks.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.counts import Counts

PARTITION_WRITES = 1000
TABLE_WRITES = 40_000  # default quota of a table or index
NEW_TABLE_WRITES = 4_000
DEFAULTS = Settings.read(lambda _name: None)
API_REQUESTS = 10_000
CONCURRENT_FUNCTIONS = 1000
PUBLISHED_EVENTS = 10_000
# A job enters and leaves the partition of each status.
UNITS_IN_A_STATUS = 2
SHARDS = "a digit of the job's id in the partition key, and ten queries instead of one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    name: str
    quota: float
    used_by_a_job: float
    meaning: str
    remedy: str

    @property
    def jobs_a_second(self) -> float:
        return self.quota / self.used_by_a_job

    @property
    def arithmetic(self) -> str:
        return f"{self.quota:,} {self.meaning} / {self.used_by_a_job:g}"


def limits(counts: Counts) -> Iterator[Limit]:
    """Sorted by limit, lowest first."""
    calls = counts.webhooks + counts.scheduling_events
    writes = counts.normal.writes
    busiest = max(writes.values())
    found = [
        Limit(
            name="Runledger's rate limit",
            quota=DEFAULTS.webhook_rate_limit,
            used_by_a_job=counts.webhooks,
            meaning="requests a second",
            remedy="the settings `webhook_rate_limit` and `webhook_burst_limit`",
        ),
        Limit(
            name="one installation in `by_status`",
            quota=PARTITION_WRITES,
            used_by_a_job=UNITS_IN_A_STATUS,
            meaning="write units a second of a partition",
            remedy=SHARDS,
        ),
        Limit(
            name="one installation in `by_completion`",
            quota=PARTITION_WRITES,
            used_by_a_job=writes["workflow_jobs.by_completion"],
            meaning="write units a second of a partition",
            remedy=SHARDS,
        ),
        Limit(
            name="one run's counters",
            quota=PARTITION_WRITES,
            used_by_a_job=writes["workflow_runs"],
            meaning="write units a second of an item",
            remedy="nothing: GitHub allows 256 jobs in a matrix",
        ),
        Limit(
            name="all runners in `runners.by_status`",
            quota=PARTITION_WRITES,
            used_by_a_job=UNITS_IN_A_STATUS,
            meaning="write units a second of a partition",
            remedy="the installation in the partition key",
        ),
        Limit(
            name="a new table",
            quota=NEW_TABLE_WRITES,
            used_by_a_job=busiest,
            meaning="write units a second",
            remedy="set its warm throughput before a migration; it doubles within half an hour by itself",
        ),
        Limit(
            name="API Gateway in one region",
            quota=API_REQUESTS,
            used_by_a_job=counts.webhooks,
            meaning="requests a second",
            remedy="ask AWS for more",
        ),
        Limit(
            name="a table or index in one region",
            quota=TABLE_WRITES,
            used_by_a_job=busiest,
            meaning="write units a second",
            remedy="ask AWS for more",
        ),
        Limit(
            name="Lambda in one region",
            quota=CONCURRENT_FUNCTIONS,
            used_by_a_job=calls * BILLED_SECONDS,
            meaning="functions at a time",
            remedy="ask AWS for more; reserve concurrency for `webhook_intake` if others share the account",
        ),
        Limit(
            name="EventBridge in us-east-1",
            quota=PUBLISHED_EVENTS,
            used_by_a_job=counts.scheduling_events,
            meaning="events a second",
            remedy="ask AWS for more",
        ),
    ]
    yield from sorted(found, key=lambda limit: limit.jobs_a_second)
