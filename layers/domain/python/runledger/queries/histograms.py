"""Percentiles of any number of durations in bounded memory.

A duration goes into one of a geometric row of buckets, each 2 % wider than the one before: a percentile is the middle
of its bucket, so it is at most 1 % off, and a row from a millisecond to a year has about 1,200 buckets.
"""

import math
from collections.abc import Iterator

WIDTH = 1.02
MS_PER_SECOND = 1000
_LOG_WIDTH = math.log(WIDTH)


def bucket(ms: int) -> int:
    return int(math.log(ms) / _LOG_WIDTH) + 1 if ms > 0 else 0


class Histogram:
    __slots__ = ("_counts", "_largest", "count")

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._largest = 0
        self.count = 0

    def add(self, ms: int, in_bucket: int) -> None:
        """`in_bucket` is `bucket(ms)`: one duration goes into many histograms, and its logarithm is taken once."""
        self._counts[in_bucket] = self._counts.get(in_bucket, 0) + 1
        self.count += 1
        self._largest = max(self._largest, ms)

    def seconds(self, *shares: float) -> list[float | None]:
        """The durations that these shares, in ascending order, are at or below; None where there is none."""
        if not self.count:
            return [None for _ in shares]
        return [min(middle, self._largest) / MS_PER_SECOND for middle in self._middles(shares)]

    def largest_seconds(self) -> float | None:
        return self._largest / MS_PER_SECOND if self.count else None

    def _middles(self, shares: tuple[float, ...]) -> Iterator[int]:
        buckets = iter(sorted(self._counts.items()))
        reached, middle = 0, 0
        for share in shares:
            while reached < math.ceil(share * self.count):
                number, inside = next(buckets)
                reached += inside
                middle = round(WIDTH ** (number - 0.5)) if number else 0
            yield middle
