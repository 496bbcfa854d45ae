"""Numbered cases: the seed and the number determine a case, so a failure is reproduced by both."""

import itertools
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

Check = Callable[[random.Random], object]


@dataclass(kw_only=True)
class Fuzz:
    """Plays a fixed number of cases, or as many as fit into `seconds`."""

    seed: int = 1
    seconds: float | None = None
    case: int | None = None
    target: str | None = None
    played: dict[str, int] = field(default_factory=dict)

    @property
    def reproduces(self) -> bool:
        """A chosen case or target: what holds for all cases together isn't checked."""
        return self.case is not None or self.target is not None

    def play(self, target: str, check: Check, *, cases: int) -> None:
        if self.target not in (None, target):
            return
        ends_at = time.monotonic() + (self.seconds or 0)
        numbers = itertools.count() if self.case is None else [self.case]
        for number in numbers:
            if self.case is None and not self._continues(number, cases, ends_at):
                return
            self._play(target, check, number)
            self.played[target] = self.played.get(target, 0) + 1

    def _continues(self, number: int, cases: int, ends_at: float) -> bool:
        return number < cases if self.seconds is None else time.monotonic() < ends_at

    def _play(self, target: str, check: Check, number: int) -> None:
        try:
            check(random.Random(f"{target} {self.seed} {number}"))  # noqa: S311
        except BaseException as failure:
            failure.add_note(f"To reproduce: make fuzz SEED={self.seed} CASE={number} TARGET={target}")
            raise
