"""The report of a pass: text for an operator, and counts and findings for the table."""

import json
from collections.abc import Mapping

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.passes import PassKind, PassOutcome
from runledger.reconciliation.tally import STUCK, Count, Tally

LINES = (
    ("Stuck jobs", tuple(STUCK.values())),
    ("Long-running jobs", (Count.LONG_RUNNING,)),
    ("Forgotten approvals", (Count.FORGOTTEN,)),
    ("Runs checked", (Count.RUNS_ASKED,)),
    ("Jobs corrected", (Count.HEALED,)),
    ("Jobs discovered", (Count.DISCOVERED,)),
    ("Jobs closed", (Count.CLOSED,)),
    ("Runners requested", (Count.RUNNERS_REQUESTED,)),
    ("Active runners", (Count.RUNNERS,)),
    ("Running instances and tasks", (Count.INSTANCES,)),
    ("Orphans", (Count.ORPHANS,)),
    ("Orphans suspected", (Count.DETECTED,)),
    ("Orphans cleaned", (Count.CLEANED,)),
    ("Orphans overdue", (Count.OVERDUE,)),
    ("Contested runners", (Count.CONTESTED,)),
    ("Runners without a machine", (Count.STALE,)),
    ("Installations confirmed", (Count.INSTALLATIONS_CONFIRMED,)),
    ("Installations corrected", (Count.INSTALLATIONS_CORRECTED,)),
    ("Webhooks lost", (Count.LOST,)),
    ("Webhooks redelivered", (Count.REDELIVERED,)),
    ("Deferred to the next pass", (Count.POSTPONED,)),
    ("Errors", (Count.ERRORS,)),
)
STATUSES = {
    PassOutcome.SUCCESS: "✅ Success",
    PassOutcome.ERRORS: "❌ Errors",
    PassOutcome.UNFINISHED: "⏳ Out of time",
}
RULE = "─" * 48
FINDINGS_KEPT, FINDING_LENGTH, FINDINGS_BYTES = 200, 1000, 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PassReport:
    """`parts_left` holds the parts that did not finish; the next pass continues with them.

    `result` is the result of a requested cleanup, as a sentence.
    """

    id: str
    kind: PassKind
    started_at: str
    finished_at: str
    tally: Tally
    parts_left: tuple[str, ...] = ()
    result: str | None = None

    @property
    def duration_in_ms(self) -> int:
        return times.ms_between(self.started_at, self.finished_at)

    @property
    def outcome(self) -> PassOutcome:
        if self.tally.counts[Count.ERRORS]:
            return PassOutcome.ERRORS
        return PassOutcome.UNFINISHED if self.parts_left else PassOutcome.SUCCESS

    @property
    def summary(self) -> Mapping[str, int]:
        return self.tally.totals

    @property
    def findings(self) -> list[str]:
        """Shortened: an item is limited to 400 KB and contains the findings twice, as a list and in the text."""
        kept: list[str] = []
        room = FINDINGS_BYTES
        for finding in self.tally.findings[:FINDINGS_KEPT]:
            short = finding if len(finding) <= FINDING_LENGTH else f"{finding[:FINDING_LENGTH]}…"
            room -= len(json.dumps(short))
            if room < 0:
                break
            kept.append(short)
        left = len(self.tally.findings) - len(kept)
        return [*kept, f"and {left} more, in the log"] if left else kept

    def text(self) -> str:
        counts = self.tally.counts
        totals = [(label, sum(counts[each] for each in of)) for label, of in LINES]
        left = [f"Left for the next pass: {', '.join(self.parts_left)}"] if self.parts_left else []
        return "\n".join(
            [
                f"Reconciliation ({self.kind}) - {self.started_at}",
                RULE,
                *(f"{label}: {total}" for label, total in totals),
                f"Duration: {self.duration_in_ms / times.MS_PER_SECOND:.1f}s",
                *left,
                *([f"Result: {self.result}"] if self.result else []),
                f"Status: {STATUSES[self.outcome]}",
                *(f"  {finding}" for finding in self.findings),
            ]
        )
