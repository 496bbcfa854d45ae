"""Injected faults. Each fault applies to matching calls and expires after `times` of them."""

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatch

from local.github.messages import Refusal


class FaultKind(StrEnum):
    ERROR = "error"
    PRIMARY_LIMIT = "primary_limit"
    SECONDARY_LIMIT = "secondary_limit"
    SLOW = "slow"
    LOST_RESPONSE = "lost_response"
    LOST_DELIVERY = "lost_delivery"


REFUSALS = (FaultKind.ERROR, FaultKind.PRIMARY_LIMIT, FaultKind.SECONDARY_LIMIT)

DEFAULT_STATUS = {
    FaultKind.ERROR: 502,
    FaultKind.LOST_RESPONSE: 502,
    FaultKind.PRIMARY_LIMIT: 403,
    FaultKind.SECONDARY_LIMIT: 403,
    FaultKind.LOST_DELIVERY: 504,
}

MESSAGES = {
    FaultKind.ERROR: "Server Error",
    FaultKind.LOST_RESPONSE: "Server Error",
    FaultKind.PRIMARY_LIMIT: "API rate limit exceeded for installation.",
    FaultKind.SECONDARY_LIMIT: (
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    ),
}


@dataclass(kw_only=True)
class Fault:
    """`times` of None means until cleared. `path` is a shell pattern; a lost delivery matches its event or GUID."""

    kind: FaultKind
    times: int | None = 1
    method: str = "*"
    path: str = "*"
    status: int | None = None
    seconds: float = 60

    def __post_init__(self) -> None:
        self.kind = FaultKind(self.kind)
        if self.status is None:
            self.status = DEFAULT_STATUS.get(self.kind)

    def refusal(self, resets_at: int) -> Refusal:
        headers = {}
        if self.kind is FaultKind.SECONDARY_LIMIT:
            headers = {"Retry-After": str(int(self.seconds))}
        if self.kind is FaultKind.PRIMARY_LIMIT:
            headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(resets_at)}
        return Refusal(self.status or 500, MESSAGES[self.kind], headers)


class Faults:
    """The active faults, in the order in which they were added."""

    def __init__(self) -> None:
        self.active: list[Fault] = []

    def use(self, kinds: tuple[FaultKind, ...], method: str, path: str) -> Fault | None:
        """The first active fault that matches, counted as used."""
        for fault in self.active:
            if fault.kind in kinds and fnmatch(method, fault.method) and fnmatch(path, fault.path):
                if fault.times is not None:
                    fault.times -= 1
                    if fault.times < 1:
                        self.active.remove(fault)
                return fault
        return None
