"""What happens to a machine, and which jobs are assigned to it. Pure.

start ─────────── end   start ─────────── end …        lives
   since ──────▶         since ──────▶                 assignments
"""

from collections.abc import Iterable
from dataclasses import fields, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from runledger.model.dataclass import dataclass
from runledger.model.inputs import Facts
from runledger.model.keys import JobKey
from runledger.model.times import BEFORE_ALL, NEVER

OCCURRENCES_KEPT = 30
ASSIGNMENTS_KEPT = 10
REPORTS_KEPT = 5


class OccurrenceKind(StrEnum):
    STARTED = "started"
    ENDED = "ended"
    WARNED = "warned"
    REBALANCE_RECOMMENDED = "rebalance_recommended"
    ATTACHMENT_REPORTED = "attachment_reported"  # by a launcher; it doesn't begin a life
    END_REPORTED = "end_reported"  # by a launcher; EC2 and ECS have not confirmed it


REPORTS = {OccurrenceKind.ATTACHMENT_REPORTED, OccurrenceKind.END_REPORTED}
WARNINGS = {OccurrenceKind.WARNED, OccurrenceKind.REBALANCE_RECOMMENDED}


class Occurrence(NamedTuple):
    """`reason` is AWS's reason for an end. In a launcher's report it is the id of the installation."""

    at: str
    kind: OccurrenceKind
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts:
    instance_type: str | None = None
    instance_lifecycle: str | None = None
    fleet_id: str | None = None
    pool_name: str | None = None
    price_per_hour: Decimal | None = None
    on_demand_price_per_hour: Decimal | None = None
    launched_at: str | None = None

    @classmethod
    def planned(cls, facts: Facts) -> "MachineFacts":
        """From a launcher's report about a job."""
        return cls(**{name: getattr(facts, name) for name in JOB_FIELDS})

    def of_job(self) -> dict[str, Any]:
        """The facts that a job has too, under the same names."""
        return {name: getattr(self, name) for name in JOB_FIELDS}

    def filled_from(self, other: "MachineFacts") -> "MachineFacts":
        """Takes missing facts from `other`."""
        absent = {each.name for each in fields(self) if getattr(self, each.name) is None}
        return replace(self, **{name: getattr(other, name) for name in absent})


JOB_FIELDS = tuple(each.name for each in fields(MachineFacts) if each.name != "launched_at")
NO_FACTS = MachineFacts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A job uses the machine from `since` on. An assignment is a plan or a fact.

    A launcher reports a plan, and `machine` is the launcher's description. A fact means that GitHub names the machine
    as the job's runner, and `machine` is AWS's description.
    """

    installation_id: int
    job_id: int
    since: str
    is_plan: bool
    repo_full_name: str | None = None
    machine: MachineFacts = NO_FACTS

    @property
    def job(self) -> JobKey:
        return JobKey(self.installation_id, self.job_id)

    @property
    def named_job(self) -> tuple[int, str]:
        return self.job_id, (self.repo_full_name or "").lower()

    def merged(self, other: "Assignment") -> "Assignment":
        """Keeps the newer of two plans, or the earlier of two facts."""
        first, second = sorted((self, other), key=lambda each: each.since, reverse=self.is_plan)
        return replace(
            first,
            repo_full_name=first.repo_full_name or second.repo_full_name,
            machine=first.machine.filled_from(second.machine),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """From a start of the machine to the earliest end after it. `until` is the start of the next life."""

    start: str = BEFORE_ALL
    end: str | None = None
    reason: str | None = None
    until: str = NEVER

    def spans(self, at: str) -> bool:
        return self.start <= at < self.until


def add_assignment(assignments: Iterable[Assignment], new: Assignment) -> tuple[Assignment, ...]:
    """Sorted by time. A job has at most one plan and one fact for a machine: another one is merged."""
    others = []
    for each in assignments:
        if each.job == new.job and each.is_plan == new.is_plan:
            new = new.merged(each)
        else:
            others.append(each)
    return tuple(sorted((*others, new), key=lambda each: (each.since, not each.is_plan, each.job)))


def keep_occurrences(occurrences: Iterable[Occurrence], *, owner: int | None) -> tuple[Occurrence, ...]:
    """Launchers' reports have a separate limit, so that they can't displace what AWS reported.

    Only the newest report of each kind and installation is kept, and the owner's reports are dropped last.
    """
    every = sorted(occurrences)
    observed = [each for each in every if each.kind not in REPORTS]
    newest = {(each.kind, each.reason): each for each in every if each.kind in REPORTS}
    reports = sorted(newest.values(), key=lambda each: (each.reason == str(owner), each))
    return tuple(sorted((*observed[-OCCURRENCES_KEPT:], *reports[-REPORTS_KEPT:])))


def keep_assignments(assignments: tuple[Assignment, ...], *, owner: int | None) -> tuple[Assignment, ...]:
    """Other hooks' assignments are dropped first, so that they can't displace the owner's."""
    kept = list(assignments)
    while len(kept) > ASSIGNMENTS_KEPT:
        kept.remove(next((each for each in kept if each.installation_id != owner), kept[0]))
    return tuple(kept)
