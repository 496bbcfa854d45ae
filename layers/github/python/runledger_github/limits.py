"""GitHub's rate limits: an hourly budget in every response, and secondary limits that appear only when exceeded."""

from collections.abc import Mapping
from typing import Self

from runledger.model.dataclass import dataclass

from runledger_github.calls import Response

FORBIDDEN, TOO_MANY = 403, 429
# GitHub's documentation: wait at least a minute if a response doesn't state how long.
DEFAULT_WAIT_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The calls that remain until `resets_at`, in seconds since 1970."""

    limit: int
    remaining: int
    resets_at: int

    @classmethod
    def from_headers(cls, headers: Mapping[str, str]) -> Self | None:
        """None without rate-limit headers: on an Enterprise Server, rate limits are optional."""
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


def limited_until(response: Response, now: float) -> float | None:
    """When to retry if a rate limit was exceeded. None for any other response, including a 403 without a limit."""
    if response.status not in (FORBIDDEN, TOO_MANY):
        return None
    seconds = response.headers.get("retry-after", "")
    if seconds.isdecimal():
        return now + int(seconds)
    budget = Budget.from_headers(response.headers)
    if budget and budget.remaining <= 0:
        return budget.resets_at  # in the past if our clock is ahead of GitHub's: the retry then follows soon
    if response.status == TOO_MANY or "secondary rate limit" in response.message:
        return now + DEFAULT_WAIT_SECONDS
    return None
