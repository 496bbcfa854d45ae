"""The slowest and the most expensive jobs by name, in bounded memory."""

from decimal import Decimal
from typing import Any

from runledger.queries.histograms import Histogram

LISTED = 10
# A matrix may generate an unlimited number of names. At twice this number, the names that used least time are dropped.
NAMES_KEPT = 1000

Name = tuple[str | None, str | None, str | None]
"""The names of the repository, the workflow and the job."""
FIELDS = ("repo_full_name", "workflow_name", "job_name")


class _Entry:
    __slots__ = ("dollars", "durations", "ms")

    def __init__(self) -> None:
        self.ms = 0
        self.dollars = Decimal(0)
        self.durations = Histogram()


class Ranking:
    def __init__(self, *, names_kept: int = NAMES_KEPT) -> None:
        self._names_kept = names_kept
        self._entries: dict[Name, _Entry] = {}

    def add_duration(self, name: Name, ms: int, bucket: int) -> None:
        entry = self._entry(name)
        entry.ms += ms
        entry.durations.add(ms, bucket)

    def add_cost(self, name: Name, dollars: Decimal) -> None:
        self._entry(name).dollars += dollars

    def slowest(self) -> list[dict[str, Any]]:
        ranked: list[dict[str, Any]] = [
            {**_name_fields(name), "jobs": entry.durations.count, "p90_seconds": entry.durations.seconds(0.9)[0] or 0}
            for name, entry in self._entries.items()
            if entry.durations.count
        ]
        return sorted(ranked, key=lambda job: -job["p90_seconds"])[:LISTED]

    def costliest(self) -> list[dict[str, Any]]:
        costly = sorted(self._entries.items(), key=lambda item: -item[1].dollars)[:LISTED]
        return [
            {**_name_fields(name), "jobs": entry.durations.count, "usage_in_dollars": entry.dollars}
            for name, entry in costly
            if entry.dollars
        ]

    def _entry(self, name: Name) -> _Entry:
        entry = self._entries.get(name)
        if entry is None:
            if len(self._entries) >= 2 * self._names_kept:
                self._drop_least_used()
            entry = self._entries[name] = _Entry()
        return entry

    def _drop_least_used(self) -> None:
        by_use = sorted(self._entries.items(), key=lambda item: -item[1].ms)
        self._entries = dict(by_use[: self._names_kept])


def _name_fields(name: Name) -> dict[str, str]:
    return {key: value for key, value in zip(FIELDS, name, strict=True) if value is not None}
