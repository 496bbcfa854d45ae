"""The limits of a pass: it ends before its function times out, and leaves part of GitHub's rate limit to others."""

from collections.abc import Callable

from runledger.model.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """`share_left` returns the unused share of an installation's rate limit, from 0 to 1."""

    seconds_left: Callable[[], float]
    share_left: Callable[[int], float]
    share_for_others: float
    reserve_seconds: float = 75  # a call to GitHub times out after 30, and there may be two in a row

    def out_of_time(self) -> bool:
        return self.seconds_left() <= self.reserve_seconds

    def has_budget(self, installation_id: int) -> bool:
        return self.share_left(installation_id) > self.share_for_others
