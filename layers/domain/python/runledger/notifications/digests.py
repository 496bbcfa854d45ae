"""Reads what a digest is about: the same figures as the API's statistics, and approvals that were forgotten."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from runledger.model import times
from runledger.notifications import digest
from runledger.notifications.digest import Failures, Period
from runledger.notifications.occurrences import Schedule
from runledger.queries import forgotten_approvals, survey
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.job_pages import JobPages
from runledger.tables.jobs import JobsTable


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestReader:
    jobs: JobsTable
    pages: JobPages
    deployments: DeploymentsTable
    forgotten_after_seconds: int

    def read(
        self, installation_id: int, schedule: Schedule, until: str, has_time: Callable[[], bool]
    ) -> dict[str, Any]:
        """Of the day or week that ends at `until`. Each completed job is read once."""
        period = Period.ending(until, digest.Schedule(schedule.every))
        failures = Failures(period)
        statistics = survey.measure(
            self.pages,
            installation_id,
            since=period.since,
            until=period.until,
            now=until,
            has_time=has_time,
            observe=failures.add,
        )
        forgotten = forgotten_approvals.find(
            self.jobs,
            [installation_id],
            waiting_since_before=times.earlier(until, seconds=self.forgotten_after_seconds),
            is_pending=lambda job: forgotten_approvals.is_pending(job, self.deployments),
        )
        return digest.compose(
            installation_id, period, statistics=statistics, failed_most=failures.most(), forgotten=forgotten
        )
