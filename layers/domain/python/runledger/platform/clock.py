"""The clock, passed in wherever time matters."""

import time
from collections.abc import Callable

from runledger.model import times
from runledger.model.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemClock:
    """The current time and sleep; tests replace them."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep

    def text(self, *, seconds_from_now: float = 0) -> str:
        return times.from_epoch_ms(round((self.now() + seconds_from_now) * times.MS_PER_SECOND))
