"""How often and for how long a failed call is retried."""

import math
import random
from collections.abc import Callable
from typing import TypeVar

from runledger.model.dataclass import dataclass
from runledger.model.errors import NoResponseError, RateLimited

T = TypeVar("T")

FIRST_WAIT_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryLimits:
    """The maximum number of attempts, and the maximum seconds from the start of the first to the start of the last."""

    tries: int = 4
    seconds: float = 30.0


class Deadline:
    """The time by which the caller must finish: no call starts after it, and none waits beyond it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.at = math.inf

    def finish_within(self, seconds: float) -> None:
        self.at = self._clock() + seconds

    def seconds_left(self) -> float:
        return self.at - self._clock()


class Retries:
    def __init__(
        self, limits: RetryLimits, *, deadline: Deadline, clock: Callable[[], float], sleep: Callable[[float], object]
    ) -> None:
        self._limits = limits
        self._deadline = deadline
        self._clock = clock
        self._sleep = sleep

    def run(self, attempt: Callable[[], T]) -> T:
        deadline = min(self._clock() + self._limits.seconds, self._deadline.at)
        tries = 0
        while True:
            tries += 1
            try:
                return attempt()
            except (NoResponseError, RateLimited) as error:
                retry_at = self._earliest_retry(error) + _backoff(tries)
                if not error.repeatable or tries >= self._limits.tries or retry_at > deadline:
                    raise
            self._sleep(retry_at - self._clock())

    def _earliest_retry(self, error: NoResponseError | RateLimited) -> float:
        now = self._clock()
        return max(error.until, now) if isinstance(error, RateLimited) else now


def _backoff(tries: int) -> float:
    """Exponential, with jitter: concurrent callers don't retry at the same time."""
    return FIRST_WAIT_SECONDS * 2 ** float(tries - 1) * random.uniform(0.5, 1)  # noqa: S311
