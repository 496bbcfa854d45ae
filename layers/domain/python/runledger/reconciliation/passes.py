"""The pass that is running: everything that its parts share."""

from dataclasses import field
from zlib import crc32

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.passes import PassKind
from runledger.reconciliation.bounds import Bounds
from runledger.reconciliation.tally import Tally


@dataclass(slots=True)
class RateLimitUse:
    """The installations for which a part has called GitHub, and those for which it was not allowed to."""

    allowed: set[int] = field(default_factory=set)
    refused: set[int] = field(default_factory=set)

    def begin(self) -> None:
        self.allowed.clear()
        self.refused.clear()

    @property
    def is_used_up(self) -> bool:
        """Whether the part has used up the rate limit of an installation, so that none is left for the next parts."""
        return bool(self.allowed & self.refused)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """`now` is when it started. `requested_by` is None for a scheduled pass."""

    id: str
    kind: PassKind
    now: str
    bounds: Bounds
    tally: Tally
    requested_by: str | None = None
    use: RateLimitUse = field(default_factory=RateLimitUse)

    @property
    def is_full(self) -> bool:
        return self.kind is PassKind.FULL

    @property
    def owner(self) -> str:
        """Identifies the holder of a cleanup lease."""
        return f"{self.requested_by} {self.id}" if self.kind is PassKind.CLEANUP else f"pass {self.id}"

    def out_of_time(self) -> bool:
        return self.bounds.out_of_time()

    def has_budget(self, installation_id: int) -> bool:
        has_budget = self.bounds.has_budget(installation_id)
        (self.use.allowed if has_budget else self.use.refused).add(installation_id)
        return has_budget

    def may_ask(self, installation_id: int) -> bool:
        """Whether another call to GitHub may start: neither the remaining time nor the rate limit is reserved."""
        return self.has_budget(installation_id) and not self.out_of_time()

    def shuffle_key(self, item: object) -> int:
        """Sorts items differently in each scheduled pass: those that fail in every pass must not starve the others."""
        return crc32(f"{times.minute_of(self.now)} {item}".encode())
