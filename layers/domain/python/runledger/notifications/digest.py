"""The daily or weekly digest of an installation. Pure.

It lists the jobs that failed most, the slowest and the most expensive jobs, forgotten approvals and savings, from the
results of the API's queries.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from runledger.model import times
from runledger.model.completed_job import CompletedJob
from runledger.model.dataclass import dataclass
from runledger.model.job import FAILURES
from runledger.notifications.schedules import Every

LISTED = 5
MOST_APPROVALS = 10
# A matrix can generate any number of names. At twice this number, the names that failed least are dropped.
NAMES_KEPT = 1000
NAME = ("repo_full_name", "workflow_name", "job_name")
SAMPLED = ("jobs", "succeeded", "failed", "success_rate", "interruptions", "usage_in_seconds", "usage_in_dollars")


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    every: Every
    since: str
    until: str

    @classmethod
    def ending(cls, until: str, every: Every) -> "Period":
        since = times.earlier(until, seconds=every.days * times.SECONDS_PER_DAY)
        return cls(every=every, since=since, until=until)


class Failures:
    """Counts completed jobs by name, in bounded memory."""

    def __init__(self, period: Period, *, names_kept: int = NAMES_KEPT) -> None:
        self._period, self._names_kept = period, names_kept
        self._failed: Counter[tuple[str | None, ...]] = Counter()
        self._jobs: Counter[tuple[str | None, ...]] = Counter()

    def add(self, job: CompletedJob) -> None:
        """Jobs that completed outside of the period don't count."""
        if not self._period.since <= job.completed_at < self._period.until:
            return
        name = tuple(getattr(job, each) for each in NAME)
        self._jobs[name] += 1
        self._failed[name] += job.conclusion in FAILURES
        if len(self._jobs) > 2 * self._names_kept:
            kept = dict(self._failed.most_common(self._names_kept))
            self._failed, self._jobs = Counter(kept), Counter({name: self._jobs[name] for name in kept})

    def most(self) -> list[dict[str, Any]]:
        ranked = sorted(self._failed.items(), key=lambda item: (-item[1], tuple(map(str, item[0]))))
        return [
            {**_name_fields(name), "failed": failed, "jobs": self._jobs[name]}
            for name, failed in ranked[:LISTED]
            if failed
        ]


def compose(
    installation_id: int,
    period: Period,
    *,
    statistics: Mapping[str, Any],
    failed_most: Iterable[Mapping[str, Any]],
    forgotten: Iterable[Any],
) -> dict[str, Any]:
    """The data of `runledger.digest`: see docs/notifications/digest.v1.schema.json. Unknown values are absent.

    `statistics` is a result of `queries.statistics_reader.measure`. `forgotten` has `ForgottenApproval`s, longest
    waiting first.
    """
    approvals = [asdict(each) for each in forgotten]
    spot = statistics.get("spot") or {}
    found = {
        "installation_id": installation_id,
        "schedule": period.every.value,
        "since": period.since,
        "until": period.until,
        **{name: statistics.get(name) for name in SAMPLED},
        "savings_in_dollars": spot.get("savings_in_dollars"),
        "spot_share": spot.get("share"),
        "queue_seconds": _percentiles(statistics.get("queue_seconds")),
        "duration_seconds": _percentiles(statistics.get("duration_seconds")),
        "failed_most": list(failed_most),
        "slowest": statistics.get("slowest", [])[:LISTED],
        "costliest": statistics.get("costliest", [])[:LISTED],
        "forgotten_approvals": [_present(each) for each in approvals[:MOST_APPROVALS]],
        "forgotten_approvals_total": len(approvals),
        "truncated": bool(statistics.get("truncated")),
    }
    plain: dict[str, Any] = _plain(_present(found))
    return plain


def _percentiles(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return _present({name: (found or {}).get(name) for name in ("p50", "p90")}) or None


def _name_fields(name: tuple[str | None, ...]) -> dict[str, str]:
    return {key: value for key, value in zip(NAME, name, strict=True) if value is not None}


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _plain(value: Any) -> Any:
    """JSON has neither decimals nor tuples."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
