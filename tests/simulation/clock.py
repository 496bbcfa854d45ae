"""Virtual time: it passes when a task sleeps and no other task can run, or when a scenario advances it."""

from runledger.model import times

TEN_O_CLOCK = 1_736_935_200.0  # 2025-01-15T10:00:00Z, when the deliveries of the tests begin


class Clock:
    def __init__(self, now: float = TEN_O_CLOCK) -> None:
        self.seconds = now

    def now(self) -> float:
        return self.seconds

    def text(self) -> str:
        return times.from_epoch_ms(round(self.seconds * times.MS_PER_SECOND))

    def advance(self, seconds: float) -> None:
        self.seconds += seconds
