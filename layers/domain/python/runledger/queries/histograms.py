"""Percentiles of any number of durations in bounded memory.

Up to EXACT_UP_TO durations are kept, and their percentiles are exact. Beyond that, only buckets are kept. Each bucket
is 2 % wider than the previous one. A percentile is the middle of its bucket, so its error is at most 1 %. About 1,200
buckets cover durations from a millisecond to a year.
"""

import math
from array import array
from collections.abc import Iterable, Iterator

from runledger.model.times import MS_PER_SECOND

EXACT_UP_TO = 1000  # 8 KB for each histogram
WIDTH = 1.02
_LOG_WIDTH = math.log(WIDTH)


def bucket(ms: int) -> int:
    return int(math.log(ms) / _LOG_WIDTH) + 1 if ms > 0 else 0


class Histogram:
    __slots__ = ("_all", "_counts", "_largest", "count")

    def __init__(self) -> None:
        self._all: array[int] = array("q")  # empty once there are too many
        self._counts: dict[int, int] = {}
        self._largest = 0
        self.count = 0

    def add(self, ms: int, in_bucket: int) -> None:
        """`in_bucket` is `bucket(ms)`, computed once by callers that add a duration to several histograms."""
        self._counts[in_bucket] = self._counts.get(in_bucket, 0) + 1
        self.count += 1
        self._largest = max(self._largest, ms)
        if self.count <= EXACT_UP_TO:
            self._all.append(ms)
        elif self._all:
            self._all = array("q")

    def seconds(self, *shares: float) -> list[float | None]:
        """The percentiles for `shares`, which must be in ascending order; None if the histogram is empty."""
        if not self.count:
            return [None for _ in shares]
        found = self._exact(shares) if self._all else self._middles(shares)
        return [min(ms, self._largest) / MS_PER_SECOND for ms in found]

    def largest_seconds(self) -> float | None:
        return self._largest / MS_PER_SECOND if self.count else None

    def _exact(self, shares: Iterable[float]) -> Iterator[int]:
        ordered = sorted(self._all)
        return (ordered[math.ceil(share * self.count) - 1] for share in shares)

    def _middles(self, shares: tuple[float, ...]) -> Iterator[int]:
        buckets = iter(sorted(self._counts.items()))
        reached, middle = 0, 0
        for share in shares:
            while reached < math.ceil(share * self.count):
                number, count = next(buckets)
                reached += count
                middle = round(WIDTH ** (number - 0.5)) if number else 0
            yield middle
