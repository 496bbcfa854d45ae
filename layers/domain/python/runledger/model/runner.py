"""A machine that is, or may be, a runner. Pure.

Inputs arrive in any order. So a runner stores what happened as a set of occurrences and assignments, and derives from
them everything that users read: its status, its job, its end. See docs/adr/0001-machines-and-assignments.md.
"""

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

from runledger.model.assignments import (
    NO_FACTS,
    REPORTS,
    WARNINGS,
    Assignment,
    Life,
    MachineFacts,
    Occurrence,
    OccurrenceKind,
    add_assignment,
    keep_assignments,
    keep_occurrences,
)
from runledger.model.dataclass import dataclass
from runledger.model.places import Place, place_of
from runledger.model.reports import NO_INSTALLATION
from runledger.model.times import BEFORE_ALL, NEVER

CLAIMS_KEPT = 50
NOT_SUSPECTED: dict[str, Any] = {"suspected_at": None, "suspected_reason": None}
NEVER_CLEARED: dict[str, Any] = {"suspicion_cleared_at": None, "suspicion_cleared_reason": None}


class RunnerStatus(StrEnum):
    ACTIVE = "active"
    CLEANING = "cleaning"
    CLEANED = "cleaned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """`job_id` is the job that runs on the machine, and `intended_job_id` is the job that it was launched for.

    `installation_id`, `repo_full_name` and `job_id` change together or not at all: see `ownership`.
    """

    runner_id: str
    created_at: str
    status: RunnerStatus = RunnerStatus.ACTIVE
    kind: str | None = None
    account_id: str | None = None
    region: str | None = None
    installation_id: int | None = None
    proven_by: str | None = None
    owner_name: str | None = None  # from a launcher's tag
    contested_at: str | None = None
    contested_by: int | None = None
    confirmed_at: str | None = None  # the first time that EC2 or ECS in that account and region reported the machine
    suspected_at: str | None = None
    suspected_reason: str | None = None
    suspicion_cleared_at: str | None = None
    suspicion_cleared_reason: str | None = None
    cleaning_owner: str | None = None
    cleaning_since: str | None = None
    occurrences: tuple[Occurrence, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    claims: tuple[Assignment, ...] = ()  # they take effect when their installation owns the machine
    version: int = 0
    # Derived from the occurrences and assignments of the machine's current life.
    job_id: int | None = None
    intended_job_id: int | None = None
    taken_at: str | None = None
    repo_full_name: str | None = None
    pool_name: str | None = None
    attached_at: str | None = None
    rebalance_recommended_at: str | None = None
    interrupted_at: str | None = None
    terminated_at: str | None = None
    terminated_reason: str | None = None
    termination_reported_at: str | None = None

    def after(self, *occurrences: Occurrence) -> "Runner":
        kept = keep_occurrences({*self.occurrences, *occurrences}, owner=self.installation_id)
        dated = self._created_by(*(each.at for each in occurrences))
        after = replace(dated, occurrences=kept)._derived()
        ended = after.terminated_at is not None and any(each.kind is OccurrenceKind.ENDED for each in occurrences)
        return after.cleaned() if ended and not self.is_ending else after

    def confirmed(self, at: str, place: Place) -> "Runner":
        """EC2 or ECS has reported or described the machine, which proves where it is."""
        return replace(
            self,
            confirmed_at=_earliest(self.confirmed_at, at),
            account_id=place.account_id or self.account_id,
            region=place.region or self.region,
        )._derived()

    def reported_in(self, place: Place) -> "Runner":
        """A launcher's report of the place fills in missing values until EC2 or ECS confirms the machine."""
        if self.confirmed_at:
            return self
        named = place_of(self.runner_id)
        return replace(
            self,
            account_id=named.account_id or self.account_id or place.account_id,
            region=named.region or self.region or place.region,
        )

    def ending(self, end: Occurrence) -> "Runner":
        """A pass has found the end. The runner is `cleaned` after the end is recorded on its jobs."""
        return replace(self.after(end), status=RunnerStatus.CLEANING)

    def cleaned(self) -> "Runner":
        return replace(self, status=RunnerStatus.CLEANED)

    def assigned(self, new: Assignment) -> "Runner":
        """A machine with a job is not an orphan, so this removes the suspicion and the pause after an earlier one."""
        merged = keep_assignments(add_assignment(self.assignments, new), owner=self.installation_id)
        dated = self._created_by(new.since)
        return dated.with_values(assignments=merged, **NOT_SUSPECTED, **NEVER_CLEARED)

    def claimed(self, claim: Assignment) -> "Runner":
        """Stores one claim of each installation, in case the machine proves to be that installation's.

        The limit is far above the number of tenants of a machine, so that false claims can't displace a true one.
        """
        same = [each for each in self.claims if each.installation_id == claim.installation_id]
        if not same and len(self.claims) >= CLAIMS_KEPT:
            return self
        newest = max((*same, claim), key=lambda each: (each.since, each.job_id))
        others = [each for each in self.claims if each not in same]
        claims = tuple(sorted((*others, newest), key=lambda each: each.installation_id))
        return replace(self._created_by(claim.since), claims=claims)._derived()

    def with_values(self, **changes: object) -> "Runner":
        """Returns the runner with these values set and all derived values recomputed."""
        return replace(self, **changes)._derived()  # type: ignore[arg-type]

    def contested(self, at: str, *, by: int) -> "Runner":
        """A second installation claims the machine. A contested machine is not suspected."""
        return self.with_values(contested_at=at, contested_by=by, **NOT_SUSPECTED)

    @property
    def is_ending(self) -> bool:
        """A pass has found the end, and hasn't recorded it on all jobs of the machine yet."""
        return self.status is RunnerStatus.CLEANING and self.terminated_at is not None

    @property
    def place(self) -> Place:
        return Place(account_id=self.account_id, region=self.region)

    @property
    def is_known_runner(self) -> bool:
        """It has an owner, or a pass has found it by its tags. EC2 and ECS also report machines that aren't runners."""
        return self.installation_id is not None or self.suspected_at is not None or self.kind is not None

    @property
    def last_change_at(self) -> str:
        dated = [each.at for each in self.occurrences]
        dated += [each.since for each in (*self.assignments, *self.claims)]
        return max((*dated, self.contested_at or "", self.confirmed_at or "", self.created_at))

    @property
    def effective_assignments(self) -> tuple[Assignment, ...]:
        """The owner's assignments, and other hooks' assignments to the same jobs. The earliest comes first.

        A job's id is public. So another hook must also name the job's repository, and one of the two hooks must be a
        hook without an App.
        """
        own = {each.named_job for each in self._of_owner() if each.repo_full_name}
        every = [
            each
            for each in (*self.assignments, *self.claims)
            if each.installation_id == self.installation_id
            or (each.named_job in own and NO_INSTALLATION in (each.installation_id, self.installation_id))
        ]
        return tuple(sorted(every, key=lambda each: (each.since, not each.is_plan, each.job)))

    def has_worked_for(self, job_id: int, repo_full_name: str | None) -> bool:
        """Compares the repository too, because the holder of a hook's secret can name any job's id."""
        job = (job_id, (repo_full_name or "").lower())
        return bool(repo_full_name) and any(each.named_job == job for each in self._of_owner())

    def life_of(self, since: str) -> Life:
        """An assignment to a machine that has ended belongs to its next life, which may not have begun."""
        every = self.lives()
        for life in every:
            if since < life.until and since <= (life.end or NEVER):
                return life
        return Life(start=every[-1].until)

    def lives(self) -> list[Life]:
        """A start that follows an end begins a new life."""
        starts = [BEFORE_ALL]
        for start in self._of_kind(OccurrenceKind.STARTED):
            if any(starts[-1] <= end.at < start.at for end in self._of_kind(OccurrenceKind.ENDED)):
                starts.append(start.at)
        return [self._life(start, until) for start, until in pairwise((*starts, NEVER))]

    def first_time_of(self, *kinds: OccurrenceKind, life: Life, since: str = BEFORE_ALL) -> str | None:
        """When one of these kinds first occurred.

        A warning after the end belongs to a life whose start is not reported yet.
        """
        found = [each for each in self._of_kind(*kinds) if each.at >= since and life.spans(each.at)]
        end = life.end or NEVER
        return min((each.at for each in found if each.kind not in WARNINGS or each.at <= end), default=None)

    def _life(self, start: str, until: str) -> Life:
        ends = [each for each in self._of_kind(OccurrenceKind.ENDED) if start <= each.at < until]
        if not ends:
            return Life(start=start, until=until)
        return Life(start=start, end=min(ends).at, reason=min(ends).reason or None, until=until)

    def _of_kind(self, *kinds: OccurrenceKind) -> Iterator[Occurrence]:
        """A launcher's report counts only for the owner's installation: any publisher can name any machine."""
        counted = ("", str(self.installation_id))
        every = (each for each in self.occurrences if each.kind in kinds)
        return (each for each in every if each.kind not in REPORTS or each.reason in counted)

    def _of_owner(self) -> Iterator[Assignment]:
        every = (*self.assignments, *self.claims)
        return (each for each in every if each.installation_id == self.installation_id)

    def _derived(self) -> "Runner":
        life = self.lives()[-1]
        derived = replace(
            self,
            attached_at=self.first_time_of(OccurrenceKind.STARTED, OccurrenceKind.ATTACHMENT_REPORTED, life=life),
            rebalance_recommended_at=self.first_time_of(OccurrenceKind.REBALANCE_RECOMMENDED, life=life),
            interrupted_at=self.first_time_of(OccurrenceKind.WARNED, life=life),
            terminated_at=life.end,
            terminated_reason=life.reason,
            termination_reported_at=self.first_time_of(OccurrenceKind.END_REPORTED, life=life),
        )
        return derived._with_job()._with_status(life)

    def _with_job(self) -> "Runner":
        every = [each for each in self.effective_assignments if each.installation_id == self.installation_id]
        present = [each for each in every if self.life_of(each.since).until == NEVER]
        plans = [each for each in present if each.is_plan]
        job_id = present[-1].job_id if present else None
        intended = plans[-1].job_id if plans else None
        taken = [each.since for each in present if not each.is_plan and each.job_id == job_id]
        return replace(
            self,
            job_id=job_id,
            intended_job_id=intended,
            taken_at=min(taken, default=None) if intended not in (None, job_id) else None,
            repo_full_name=next((each.repo_full_name for each in reversed(present) if each.repo_full_name), None),
            pool_name=machine_of(self, every[-1]).pool_name if every else self.pool_name,
        )

    def _with_status(self, life: Life) -> "Runner":
        if life.end is not None:
            return self if self.status is RunnerStatus.CLEANING else self.cleaned()
        renewed = self
        if (self.suspected_at or NEVER) < life.start:
            renewed = replace(renewed, **NOT_SUSPECTED)
        if (self.suspicion_cleared_at or NEVER) < life.start:
            renewed = replace(renewed, **NEVER_CLEARED)
        if (self.cleaning_since or NEVER) < life.start or self.status is RunnerStatus.CLEANED:
            renewed = replace(renewed, status=RunnerStatus.ACTIVE, cleaning_owner=None, cleaning_since=None)
        return renewed

    def _created_by(self, *instants: str) -> "Runner":
        """The runner with the time of its earliest input, including inputs that are no longer stored."""
        return replace(self, created_at=min((self.created_at, *instants)))


def machine_of(runner: Runner, assignment: Assignment) -> MachineFacts:
    """The job's own plan; otherwise another job's plan, with gaps filled from AWS's description.

    AWS's description is ignored if the job has a plan: it exists only if the plan arrived late, and the result must not
    depend on the order of arrival.
    """
    own = [each for each in runner.effective_assignments if each.job_id == assignment.job_id]
    if plans := [each.machine for each in own if each.is_plan]:
        return plans[0]
    found = next((each.machine for each in own if each.job == assignment.job), NO_FACTS)
    other = plan_before(runner, assignment)
    return other.machine.filled_from(found) if other else found


def plan_before(runner: Runner, assignment: Assignment) -> Assignment | None:
    """The newest plan for any job in the same life, made before the job began on the machine."""
    life = runner.life_of(assignment.since)
    plans = [
        each
        for each in runner.effective_assignments
        if each.is_plan and each.since <= assignment.since and runner.life_of(each.since) == life
    ]
    return plans[-1] if plans else None


def _earliest(*instants: str | None) -> str | None:
    return min((each for each in instants if each), default=None)
