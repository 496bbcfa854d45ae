"""GitHub's two limits: an hourly budget that every answer reports, and secondary ones that show when they strike."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from runledger_github.messages import Answer

FORBIDDEN, TOO_MANY = 403, 429
# What GitHub asks for where a limit strikes and no header says for how long.
UNTOLD_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What is left of a caller's calls until `resets_at`, in seconds since 1970."""

    limit: int
    remaining: int
    resets_at: int

    @classmethod
    def in_headers(cls, headers: Mapping[str, str]) -> Self | None:
        """None where there is none: an Enterprise Server counts calls only if its owner wants it to."""
        try:
            return cls(
                limit=int(headers["x-ratelimit-limit"]),
                remaining=int(headers["x-ratelimit-remaining"]),
                resets_at=int(headers["x-ratelimit-reset"]),
            )
        except (KeyError, ValueError):
            return None

    def exhausted(self, now: float) -> bool:
        return self.remaining <= 0 and now < self.resets_at


def limited_until(answer: Answer, now: float) -> float | None:
    """When to ask again, if this is a limit and not a refusal: both are 403."""
    if answer.status not in (FORBIDDEN, TOO_MANY):
        return None
    seconds = answer.headers.get("retry-after", "")
    if seconds.isdecimal():
        return now + int(seconds)
    budget = Budget.in_headers(answer.headers)
    if budget and budget.remaining <= 0:
        return budget.resets_at  # Which is past already if our clock is ahead of GitHub's: then it is a short wait.
    if answer.status == TOO_MANY or "secondary rate limit" in answer.message:
        return now + UNTOLD_SECONDS
    return None
