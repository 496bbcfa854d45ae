"""Reads the data of a digest: for an installation, or for one of its repositories."""

from functools import partial
from typing import Any

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.notifications.digest import Failures, Period, compose
from runledger.queries import forgotten_approvals, statistics_reader
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.job_pages import HasTime, JobPages
from runledger.tables.jobs import JobsTable


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestReader:
    """Costs as much as the API's statistics for the same range, plus one query for waiting jobs."""

    pages: JobPages
    jobs: JobsTable
    deployments: DeploymentsTable
    forgotten_approval_hours: int

    def read(
        self,
        installation_id: int,
        period: Period,
        *,
        repo_full_name: str | None = None,
        has_time: HasTime = lambda: True,
    ) -> dict[str, Any]:
        """The data of `runledger.digest`. If time runs out, `truncated` is true and the figures are too low."""
        failures = Failures(period)
        statistics = statistics_reader.measure(
            self.pages,
            installation_id,
            repo_full_name=repo_full_name,
            since=period.since,
            until=period.until,
            now=period.until,
            has_time=has_time,
            observe=failures.add,
        )
        too_long = times.earlier(period.until, seconds=self.forgotten_approval_hours * times.SECONDS_PER_HOUR)
        forgotten = forgotten_approvals.find(
            self.jobs,
            [installation_id],
            waiting_since_before=too_long,
            is_pending=partial(forgotten_approvals.is_pending, deployments=self.deployments),
        )
        return compose(
            installation_id,
            period,
            statistics=statistics,
            failed_most=failures.most(),
            forgotten=[each for each in forgotten if repo_full_name in (None, each.repo_full_name)],
        )
