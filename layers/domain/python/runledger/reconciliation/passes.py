"""The pass that is running: everything that its parts share."""

from dataclasses import dataclass

from runledger.model.passes import PassKind
from runledger.reconciliation.bounds import Bounds
from runledger.reconciliation.tally import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """`now` is when it started. `requested_by` is None for a scheduled pass."""

    id: str
    kind: PassKind
    now: str
    bounds: Bounds
    tally: Tally
    requested_by: str | None = None

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
        return self.bounds.has_budget(installation_id)

    def may_ask(self, installation_id: int) -> bool:
        """Whether another call to GitHub may start: there is time, and rate limit that isn't reserved for others."""
        return self.has_budget(installation_id) and not self.out_of_time()
