"""Counts and findings of a pass. An item that fails is reported, and the pass goes on with the next one."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from enum import StrEnum

from runledger.model.dataclass import dataclass
from runledger.model.errors import UnavailableError
from runledger.model.runner import Runner
from runledger.model.stuck import OPEN


class Count(StrEnum):
    """The counts of a summary, in its order."""

    RUNS_ASKED = "runs_asked"
    STUCK_QUEUED = "stuck_queued"
    STUCK_SCHEDULED = "stuck_scheduled"
    STUCK_IN_PROGRESS = "stuck_in_progress"
    STUCK_WAITING = "stuck_waiting"
    LONG_RUNNING = "long_running_jobs"
    FORGOTTEN = "forgotten_approvals"
    HEALED = "jobs_healed"
    DISCOVERED = "jobs_discovered"
    CLOSED = "jobs_closed"
    RUNNERS_REQUESTED = "runners_requested"
    RUNNERS = "active_runners"
    INSTANCES = "living_instances"
    ORPHANS = "orphans"
    DETECTED = "orphans_detected"
    CLEANED = "orphans_cleaned"
    OVERDUE = "orphans_overdue"
    CONTESTED = "contested_runners"
    STALE = "stale_mappings"
    INSTALLATIONS_CONFIRMED = "installations_confirmed"
    INSTALLATIONS_CORRECTED = "installations_corrected"
    DELIVERIES_READ = "deliveries_read"
    LOST = "webhooks_lost"
    REDELIVERED = "webhooks_redelivered"
    POSTPONED = "postponed"
    ERRORS = "errors"


STUCK = {status: Count(f"stuck_{status}") for status in OPEN}


@dataclass(slots=True, kw_only=True)
class Attempt:
    """What happened to one item. `problem` is None if it succeeded."""

    problem: str | None = None


@dataclass(slots=True, kw_only=True)
class Tally:
    """`warn` is called once for each error, with the item that failed.

    `suspected` holds the runners that became orphans in this pass, and `terminated` the terminated orphans with their
    cleanup latency in seconds.
    """

    warn: Callable[[str, Exception], None]
    counts: Counter[Count] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    suspected: list[Runner] = field(default_factory=list)
    terminated: list[tuple[Runner, float]] = field(default_factory=list)

    def add(self, count: Count, number: int = 1) -> None:
        self.counts[count] += number

    def report(self, count: Count, finding: str) -> None:
        self.counts[count] += 1
        self.findings.append(finding)

    @contextmanager
    def isolated(self, item: str) -> Iterator[Attempt]:
        """Transient failures are deferred to the next pass. Any other exception is an error, which has an alarm."""
        attempt = Attempt()
        try:
            yield attempt
        except UnavailableError as unavailable:
            attempt.problem = f"deferred to the next pass: {unavailable}"
            self.report(Count.POSTPONED, f"{item}: {attempt.problem}")
        except Exception as error:
            attempt.problem = str(error)
            self.report(Count.ERRORS, f"{item}: {attempt.problem}")
            self.warn(item, error)

    @property
    def totals(self) -> Mapping[str, int]:
        """Every count, including zeros."""
        return {str(count): self.counts[count] for count in Count}
