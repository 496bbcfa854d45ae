"""How far a pass may go: it ends in good order before Lambda ends it, and leaves GitHub's budget to others as well."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """`share_left` tells which part, from 0 to 1, is left of the calls that an installation may make."""

    seconds_left: Callable[[], float]
    share_left: Callable[[int], float]
    share_for_others: float
    reserve_seconds: float = 75  # a call to GitHub that hangs is given up after 30, and there may be two

    def out_of_time(self) -> bool:
        return self.seconds_left() <= self.reserve_seconds

    def may_ask(self, installation_id: int) -> bool:
        return self.share_left(installation_id) > self.share_for_others
