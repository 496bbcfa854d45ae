"""How often and how long we try again before the caller has to know."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from runledger_github.errors import NoAnswerError, RateLimited

T = TypeVar("T")

FIRST_WAIT_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The most tries for one call, and the most seconds from its start to that of its last try."""

    tries: int = 4
    seconds: float = 30.0


class Deadline:
    """When the caller must have finished: no call begins after it, and none waits beyond it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.at = math.inf

    def finish_within(self, seconds: float) -> None:
        self.at = self._clock() + seconds

    def seconds_left(self) -> float:
        return self.at - self._clock()


class Retries:
    def __init__(
        self, patience: Patience, *, deadline: Deadline, clock: Callable[[], float], sleep: Callable[[float], object]
    ) -> None:
        self._patience = patience
        self._deadline = deadline
        self._clock = clock
        self._sleep = sleep

    def until_answered(self, attempt: Callable[[], T]) -> T:
        deadline = min(self._clock() + self._patience.seconds, self._deadline.at)
        tries = 0
        while True:
            tries += 1
            try:
                return attempt()
            except (NoAnswerError, RateLimited) as trouble:
                again_at = self._soonest(trouble) + _backoff(tries)
                hopeless = isinstance(trouble, NoAnswerError) and not trouble.repeatable
                if hopeless or tries >= self._patience.tries or again_at > deadline:
                    raise
            self._sleep(again_at - self._clock())

    def _soonest(self, trouble: NoAnswerError | RateLimited) -> float:
        now = self._clock()
        return max(trouble.until, now) if isinstance(trouble, RateLimited) else now


def _backoff(tries: int) -> float:
    """Doubles, and scatters, so that callers who were stopped together do not come back together."""
    return FIRST_WAIT_SECONDS * 2 ** float(tries - 1) * random.uniform(0.5, 1)  # noqa: S311
