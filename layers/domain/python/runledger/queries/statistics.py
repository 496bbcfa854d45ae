"""Job statistics. Jobs are added one at a time, and memory use doesn't depend on their number. Pure.

docs/definitions.md defines each figure. Rates and durations count jobs that completed in the range. Cost and
machine time count the part of each job that ran in the range.
"""

from collections import Counter
from decimal import Decimal
from typing import Any

from runledger.model import times
from runledger.model.completed_job import CompletedJob
from runledger.model.inputs import Lifecycle, Status
from runledger.model.job import FAILURES
from runledger.queries.histograms import Histogram, bucket
from runledger.queries.rankings import Ranking
from runledger.queries.usage import Total, Usage, step_of

SUCCESS = "success"
UNKNOWN = "unknown"  # GitHub reported the completion without a conclusion
SHARES = (0.5, 0.9, 0.99)
HOURLY_UP_TO_HOURS = 72
# Also the largest number of points in a series: a year of days, with a margin for leap years and time zones.
LONGEST_DAYS = 400


class _Point:
    __slots__ = ("completed", "durations", "failed", "jobs", "queues", "succeeded", "total")

    def __init__(self) -> None:
        self.jobs = self.completed = self.succeeded = self.failed = 0
        self.total = Total()
        self.queues, self.durations = Histogram(), Histogram()


class Statistics:
    def __init__(self, *, since: str, until: str) -> None:
        self._since, self._until = since, until
        self._step_hours = 1 if times.ms_between(since, until) <= HOURLY_UP_TO_HOURS * times.MS_PER_HOUR else 24
        self._points: dict[str, _Point] = {}
        self._conclusions: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._jobs = self._interrupted = 0
        self._lifecycles: Counter[str] = Counter()
        self._saved: Decimal | None = None
        self._total = Total()
        self._queues, self._durations, self._ranking = Histogram(), Histogram(), Ranking()

    def add_completed(self, job: CompletedJob) -> None:
        """A job that completed after the range may have been created, or may have run, in the range."""
        self._count_created(job.created_at)
        self._add_usage(Usage.of(job), job)
        if not self._since <= job.completed_at < self._until:
            return
        point = self._point(job.completed_at)
        self._conclusions[job.conclusion or UNKNOWN] += 1
        self._interrupted += job.interrupted
        point.completed += 1
        point.succeeded += job.conclusion == SUCCESS
        point.failed += job.conclusion in FAILURES
        if job.started_at is not None:
            self._add_durations(job, job.started_at, point)

    def add_open(self, *, status: str, created_at: str, usage: Usage | None) -> None:
        """A job that is open now."""
        self._statuses[status] += 1
        self._count_created(created_at)
        self._add_usage(usage, None)

    def summary(self) -> dict[str, Any]:
        succeeded = self._conclusions[SUCCESS]
        failed = sum(self._conclusions[conclusion] for conclusion in FAILURES)
        completed = self._conclusions.total()
        return {
            "since": self._since,
            "until": self._until,
            "jobs": self._jobs,
            "by_status": dict(self._statuses + Counter({Status.COMPLETED.value: completed})),
            "by_conclusion": dict(self._conclusions),
            "succeeded": succeeded,
            "failed": failed,
            "success_rate": succeeded / (succeeded + failed) if succeeded + failed else None,
            "queue_seconds": _percentiles(self._queues),
            "duration_seconds": _percentiles(self._durations),
            "usage_in_seconds": round(self._total.seconds),
            **self._total.to_json(),
            "spot": {"share": spot_share(self._lifecycles), "savings_in_dollars": self._saved},
            "interruptions": self._interrupted,
            "series": [self._point_json(start) for start in self._starts()],
            "slowest": self._ranking.slowest(),
            "costliest": self._ranking.costliest(),
        }

    def _count_created(self, created_at: str) -> None:
        if self._since <= created_at < self._until:
            self._jobs += 1
            self._point(created_at).jobs += 1

    def _add_usage(self, usage: Usage | None, job: CompletedJob | None) -> None:
        part = usage.within(self._since, self._until) if usage else None
        if part is None:
            return
        self._total.add(part)
        for start, step in part.by_step(self._step_hours):
            self._point(start).total.add(step)
        if job is not None and part.dollars is not None:
            self._ranking.add_cost(_name(job), part.dollars)

    def _add_durations(self, job: CompletedJob, started_at: str, point: _Point) -> None:
        ms = max(0, times.ms_between(started_at, job.completed_at))
        in_use = bucket(ms)
        for durations in (self._durations, point.durations):
            durations.add(ms, in_use)
        self._ranking.add_duration(_name(job), ms, in_use)
        if job.queue_ms is not None:
            in_queue = bucket(job.queue_ms)
            for queues in (self._queues, point.queues):
                queues.add(job.queue_ms, in_queue)
        if job.lifecycle is not None:
            self._lifecycles[job.lifecycle] += 1
        if job.saved is not None:
            self._saved = (self._saved or Decimal(0)) + job.saved

    def _point(self, instant: str) -> _Point:
        start = step_of(instant, self._step_hours)
        if start not in self._points:
            self._points[start] = _Point()
        return self._points[start]

    def _starts(self) -> list[str]:
        starts, at = [], step_of(self._since, self._step_hours)
        while at < self._until:
            starts.append(at)
            at = times.later(at, seconds=self._step_hours * times.SECONDS_PER_HOUR)
        return starts

    def _point_json(self, start: str) -> dict[str, Any]:
        point = self._points.get(start) or _Point()
        queue_p50, queue_p90 = point.queues.seconds(0.5, 0.9)
        duration_p50, duration_p90 = point.durations.seconds(0.5, 0.9)
        return {
            "start": start,
            "jobs": point.jobs,
            "completed": point.completed,
            "succeeded": point.succeeded,
            "failed": point.failed,
            "queue_p50": queue_p50,
            "queue_p90": queue_p90,
            "duration_p50": duration_p50,
            "duration_p90": duration_p90,
            **point.total.to_json(),
        }


def spot_share(lifecycles: Counter[str]) -> float | None:
    """The share of spot among jobs that ran on a machine whose lifecycle is known."""
    return lifecycles[Lifecycle.SPOT] / lifecycles.total() if lifecycles else None


def _name(job: CompletedJob) -> tuple[str | None, str | None, str | None]:
    return job.repo_full_name, job.workflow_name, job.job_name


def _percentiles(durations: Histogram) -> dict[str, Any]:
    p50, p90, p99 = durations.seconds(*SHARES)
    return {"p50": p50, "p90": p90, "p99": p99, "max": durations.largest_seconds(), "count": durations.count}
