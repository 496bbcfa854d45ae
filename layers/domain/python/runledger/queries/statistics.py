"""Statistics of jobs, added one at a time; memory doesn't grow with the number of jobs. Pure."""

from collections import Counter
from decimal import Decimal
from typing import Any

from runledger.model import times
from runledger.model.inputs import Status
from runledger.model.job import FAILURES
from runledger.model.job_line import JobLine
from runledger.queries.histograms import MS_PER_SECOND, Histogram, bucket
from runledger.queries.rankings import Ranking

SUCCESS = "success"
SHARES = (0.5, 0.9, 0.99)
HOURLY_UP_TO_HOURS = 72
# Also the largest number of points in a series: a year of days, with a margin for leap years and time zones.
LONGEST_DAYS = 400


class _Point:
    __slots__ = ("completed", "dollars", "durations", "failed", "jobs", "queues")

    def __init__(self) -> None:
        self.jobs = self.completed = self.failed = 0
        self.dollars = Decimal(0)
        self.queues, self.durations = Histogram(), Histogram()


class Statistics:
    def __init__(self, *, since: str, until: str) -> None:
        self._since, self._until = since, until
        self._step_hours = 1 if times.ms_between(since, until) <= HOURLY_UP_TO_HOURS * times.MS_PER_HOUR else 24
        self._points: dict[str, _Point] = {}
        self._conclusions: Counter[str] = Counter()
        self._jobs = self._ran = self._on_spot = self._interrupted = self._seconds = 0
        self._dollars = self._saved = Decimal(0)
        self._queues, self._durations, self._ranking = Histogram(), Histogram(), Ranking()

    def add(self, line: JobLine) -> None:
        point = self._point(line.created_at)
        self._jobs += 1
        point.jobs += 1
        self._interrupted += line.interrupted
        if line.conclusion is None:
            return
        self._conclusions[line.conclusion] += 1
        point.completed += 1
        point.failed += line.conclusion in FAILURES
        if line.queue_ms is not None:
            self._add_run(line, line.queue_ms, point)

    @property
    def still_open(self) -> int:
        return self._jobs - self._conclusions.total()

    def summary(self, open_jobs: Counter[str]) -> dict[str, Any]:
        """`open_jobs` are counts by status, which the index doesn't contain."""
        succeeded = self._conclusions[SUCCESS]
        failed = sum(self._conclusions[conclusion] for conclusion in FAILURES)
        completed = self._conclusions.total()
        return {
            "since": self._since,
            "until": self._until,
            "jobs": self._jobs,
            "by_status": dict(open_jobs + Counter({Status.COMPLETED.value: completed})),
            "by_conclusion": dict(self._conclusions),
            "success_rate": succeeded / (succeeded + failed) if succeeded + failed else None,
            "queue_seconds": _percentiles(self._queues),
            "duration_seconds": _percentiles(self._durations),
            "usage_in_seconds": self._seconds,
            "usage_in_dollars": self._dollars,
            "spot": {
                "share": self._on_spot / self._ran if self._ran else None,
                "savings_in_dollars": self._saved,
            },
            "interruptions": self._interrupted,
            "series": [self._point_json(start) for start in self._starts()],
            "slowest": self._ranking.slowest(),
            "costliest": self._ranking.costliest(),
        }

    def _add_run(self, line: JobLine, queue_ms: int, point: _Point) -> None:
        dollars, ms = line.dollars or Decimal(0), line.seconds * MS_PER_SECOND
        in_queue, in_use = bucket(queue_ms), bucket(ms)
        self._ran += 1
        self._seconds += line.seconds
        self._dollars += dollars
        self._on_spot += line.saved is not None
        self._saved += line.saved or 0
        point.dollars += dollars
        for queues, durations in ((self._queues, self._durations), (point.queues, point.durations)):
            queues.add(queue_ms, in_queue)
            durations.add(ms, in_use)
        self._ranking.add(line.workflow_name, line.job_name, ms=ms, bucket=in_use, dollars=dollars)

    def _point(self, instant: str) -> _Point:
        start = self._start(instant)
        if start not in self._points:
            self._points[start] = _Point()
        return self._points[start]

    def _start(self, instant: str) -> str:
        """The start of the hour or day, by slicing text: parsing 100,000 timestamps would take longer."""
        return f"{instant[:13]}:00:00.000Z" if self._step_hours == 1 else f"{instant[:10]}T00:00:00.000Z"

    def _starts(self) -> list[str]:
        starts, at = [], self._start(self._since)
        while at < self._until:
            starts.append(at)
            at = times.earlier(at, seconds=-self._step_hours * 3600)
        return starts

    def _point_json(self, start: str) -> dict[str, Any]:
        point = self._points.get(start) or _Point()
        queue_p50, queue_p90 = point.queues.seconds(0.5, 0.9)
        duration_p50, duration_p90 = point.durations.seconds(0.5, 0.9)
        return {
            "start": start,
            "jobs": point.jobs,
            "completed": point.completed,
            "failed": point.failed,
            "queue_p50": queue_p50,
            "queue_p90": queue_p90,
            "duration_p50": duration_p50,
            "duration_p90": duration_p90,
            "usage_in_dollars": point.dollars,
        }


def _percentiles(durations: Histogram) -> dict[str, Any]:
    p50, p90, p99 = durations.seconds(*SHARES)
    return {"p50": p50, "p90": p90, "p99": p99, "max": durations.largest_seconds(), "count": durations.count}
