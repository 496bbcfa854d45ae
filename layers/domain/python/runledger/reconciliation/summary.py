"""A pass in words that an operator reads first, and in numbers for the table."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from runledger.model import times
from runledger.model.passes import PassKind
from runledger.reconciliation.tally import Count, Tally

LINES = (
    ("Stuck jobs", (Count.STUCK_QUEUED, Count.STUCK_SCHEDULED, Count.STUCK_IN_PROGRESS, Count.STUCK_WAITING)),
    ("Long-running jobs", (Count.LONG_RUNNING,)),
    ("Forgotten approvals", (Count.FORGOTTEN,)),
    ("Runs asked of GitHub", (Count.RUNS_ASKED,)),
    ("Jobs healed", (Count.HEALED,)),
    ("Jobs never heard of", (Count.DISCOVERED,)),
    ("Jobs unknown to GitHub", (Count.CLOSED,)),
    ("Runners requested", (Count.RUNNERS_REQUESTED,)),
    ("Active mappings", (Count.RUNNERS,)),
    ("Living instances and tasks", (Count.INSTANCES,)),
    ("Orphans", (Count.ORPHANS,)),
    ("Orphans detected", (Count.DETECTED,)),
    ("Orphans cleaned", (Count.CLEANED,)),
    ("Orphans overdue", (Count.OVERDUE,)),
    ("Contested runners", (Count.CONTESTED,)),
    ("Stale mappings", (Count.STALE,)),
    ("Installations confirmed", (Count.INSTALLATIONS_CONFIRMED,)),
    ("Installations corrected", (Count.INSTALLATIONS_CORRECTED,)),
    ("Webhooks lost", (Count.LOST,)),
    ("Webhooks redelivered", (Count.REDELIVERED,)),
    ("Postponed", (Count.POSTPONED,)),
    ("Errors", (Count.ERRORS,)),
)
RULE = "─" * 48
FINDINGS_KEPT, FINDING_LENGTH, FINDINGS_BYTES = 200, 1000, 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`parts_left` had to wait for the next pass."""

    id: str
    kind: PassKind
    started_at: str
    finished_at: str
    tally: Tally
    parts_left: tuple[str, ...] = ()

    @property
    def duration_in_ms(self) -> int:
        return times.ms_between(self.started_at, self.finished_at)

    @property
    def outcome(self) -> str:
        if self.tally.counts[Count.ERRORS]:
            return "errors"
        return "unfinished" if self.parts_left else "success"

    @property
    def summary(self) -> Mapping[str, int]:
        return self.tally.told

    @property
    def findings(self) -> list[str]:
        """An item of DynamoDB holds 400 KB at most, and these are in it twice: as a list and in the text."""
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
        told = [(words, sum(counts[each] for each in of)) for words, of in LINES]
        status = {"success": "✅ Success", "errors": "❌ Errors", "unfinished": "⏳ Out of time"}[self.outcome]
        left = [f"Left for the next pass: {', '.join(self.parts_left)}"] if self.parts_left else []
        return "\n".join(
            [
                f"Reconciliation ({self.kind}) - {self.started_at}",
                RULE,
                *(f"{words}: {number}" for words, number in told),
                f"Duration: {self.duration_in_ms / times.MS_PER_SECOND:.1f}s",
                *left,
                f"Status: {status}",
                *(f"  {finding}" for finding in self.findings),
            ]
        )
