"""The time for which a job used a machine, and the part of it in a range. Pure.

Cost and machine time belong to the hours in which the job ran, not to the hour in which it was created or completed.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from runledger.model import times
from runledger.model.completed_job import CompletedJob
from runledger.model.dataclass import dataclass
from runledger.model.job_machine import names_another
from runledger.model.money import dollars


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """`dollars` is None without a price."""

    start: str
    end: str
    seconds: Decimal
    dollars: Decimal | None

    @classmethod
    def of(cls, job: CompletedJob) -> "Usage | None":
        """None for a job that never ran."""
        if job.started_at is None:
            return None
        end = times.later(job.started_at, seconds=job.seconds)
        return cls(start=job.started_at, end=end, seconds=Decimal(job.seconds), dollars=job.dollars)

    @classmethod
    def so_far(cls, job: Mapping[str, Any], now: str) -> "Usage | None":
        """The usage of a running job until now, or until the end of its machine."""
        if "started_at" not in job:
            return None
        start, end = job["started_at"], min(now, machine_end(job) or now)
        seconds = max(0, times.ms_between(start, end)) // times.MS_PER_SECOND
        price = job.get("price_per_hour")
        cost = dollars(seconds, Decimal(str(price))) if price is not None else None
        return cls(start=start, end=max(start, end), seconds=Decimal(seconds), dollars=cost)

    @property
    def unpriced_seconds(self) -> Decimal:
        return self.seconds if self.dollars is None else Decimal(0)

    def within(self, since: str, until: str) -> "Usage | None":
        """The part from `since` on and before `until`, or None. A usage without a duration belongs to its start."""
        start, end = max(self.start, since), min(self.end, until)
        if start > end or self.start >= until or (start == end and self.start < since):
            return None
        if (start, end) == (self.start, self.end):
            return self
        share = Decimal(times.ms_between(start, end)) / times.ms_between(self.start, self.end)
        cost = self.dollars * share if self.dollars is not None else None
        return Usage(start=start, end=end, seconds=self.seconds * share, dollars=cost)

    def by_step(self, hours: int) -> Iterator[tuple[str, "Usage"]]:
        """The part in each hour, or in each day for 24, by the start of the hour or day."""
        begin = step_of(self.start, hours)
        if begin == step_of(self.end, hours):
            yield begin, self
            return
        while begin <= self.end:
            following = times.later(begin, seconds=hours * times.SECONDS_PER_HOUR)
            if (part := self.within(begin, following)) is not None:
                yield begin, part
            begin = following


def machine_end(job: Mapping[str, Any]) -> str | None:
    """When the machine of a running job ended; None while it runs.

    An end before the job's start belongs to an earlier life of the machine. If GitHub names another machine, the end
    doesn't affect the job.
    """
    end = job.get("terminated_at")
    if end is None or end < job.get("started_at", "") or names_another(job.get("runner_name"), job.get("instance_id")):
        return None
    return str(end)


def step_of(instant: str, hours: int) -> str:
    """The start of the hour or day, by slicing text: parsing 100,000 timestamps would take longer."""
    return f"{instant[:13]}:00:00.000Z" if hours == 1 else f"{instant[:10]}T00:00:00.000Z"


class Total:
    """A sum of usages. Its dollars are None if there are usages but none has a price."""

    __slots__ = ("_dollars", "_is_empty", "_is_priced", "seconds", "unpriced_seconds")

    def __init__(self) -> None:
        self.seconds = self.unpriced_seconds = self._dollars = Decimal(0)
        self._is_priced, self._is_empty = False, True

    def add(self, usage: Usage) -> None:
        self._is_empty = False
        self.seconds += usage.seconds
        self.unpriced_seconds += usage.unpriced_seconds
        if usage.dollars is not None:
            self._dollars += usage.dollars
            self._is_priced = True

    @property
    def dollars(self) -> Decimal | None:
        return self._dollars if self._is_priced or self._is_empty else None

    def to_json(self) -> dict[str, Any]:
        return {
            "usage_in_dollars": self.dollars,
            "unpriced_seconds": round(self.unpriced_seconds),
        }
