"""Running passes, and the context that Lambda gives their handler."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from runledger.model import times
from runledger.model.passes import PassKind


@dataclass
class Pass:
    """A pass under way. `dies_at` is the number of the call at which its process is killed."""

    name: str
    kind: PassKind
    deadline: float
    dies_at: int | None = None
    calls: int = 0
    disturbed: bool = False
    result: dict[str, Any] | None = None

    @property
    def findings(self) -> list[str]:
        return [line for line in self.result["text"].splitlines() if line.startswith("  ")] if self.result else []


@dataclass(frozen=True)
class Context:
    """The context that Lambda gives to a handler."""

    under_way: Pass
    now: Callable[[], float]
    aws_request_id: str = "a-request"

    def get_remaining_time_in_millis(self) -> int:
        return round((self.under_way.deadline - self.now()) * times.MS_PER_SECOND)
