"""A machine that is, or may be, a runner: what happened to it, and which jobs it was assigned to. Pure.

Inputs arrive in any order. So a runner keeps what happened as a set of occurrences, and everything that people read
(its status, its job, when it ended) is derived from that set: see docs/adr/0001-machines-and-assignments.md.

    start ─────────── end   start ─────────── end …        lives
       since ──────▶         since ──────▶                 assignments
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from enum import StrEnum
from itertools import pairwise

from runledger.model.places import Place, place_of
from runledger.model.reports import NO_INSTALLATION

OCCURRENCES_KEPT = 30
ASSIGNMENTS_KEPT = 10
REPORTS_KEPT = 5
CLAIMS_KEPT = 50
BEFORE_ALL, AFTER_ALL = "", "9999"


class RunnerStatus(StrEnum):
    ACTIVE = "active"
    CLEANING = "cleaning"
    CLEANED = "cleaned"


class Happening(StrEnum):
    STARTED = "started"
    ENDED = "ended"
    WARNED = "warned"
    REBALANCE_RECOMMENDED = "rebalance_recommended"
    ATTACHMENT_REPORTED = "attachment_reported"  # by a launcher: it begins no life
    END_REPORTED = "end_reported"  # by a launcher; EC2 and ECS have not confirmed it


REPORTS = {Happening.ATTACHMENT_REPORTED, Happening.END_REPORTED}
WARNINGS = {Happening.WARNED, Happening.REBALANCE_RECOMMENDED}


@dataclass(frozen=True, slots=True, order=True)
class Occurrence:
    """The reason of a launcher's report is the installation that it is about."""

    at: str
    kind: Happening
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

    def over(self, other: "MachineFacts") -> "MachineFacts":
        """Facts that are absent here are taken from `other`."""
        absent = {each.name for each in fields(self) if getattr(self, each.name) is None}
        return replace(self, **{name: getattr(other, name) for name in absent})


NO_FACTS = MachineFacts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A job and the machine, since when. A plan is a launcher's; a fact is GitHub's name of the job's runner.

    The facts of a plan are the launcher's, those of a fact are AWS's.
    """

    installation_id: int
    job_id: int
    since: str
    is_plan: bool
    repo_full_name: str | None = None
    machine: MachineFacts = NO_FACTS

    @property
    def job(self) -> tuple[int, int]:
        return self.installation_id, self.job_id

    @property
    def named_job(self) -> tuple[int, str]:
        return self.job_id, (self.repo_full_name or "").lower()

    def merged(self, other: "Assignment") -> "Assignment":
        """Of two plans the newer counts; a fact holds since the earlier time."""
        first, second = sorted((self, other), key=lambda each: each.since, reverse=self.is_plan)
        return replace(
            first,
            repo_full_name=first.repo_full_name or second.repo_full_name,
            machine=first.machine.over(second.machine),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """From a start to the earliest end after it. `until` is the start of the next life."""

    start: str = BEFORE_ALL
    end: str | None = None
    reason: str | None = None
    until: str = AFTER_ALL

    def spans(self, at: str) -> bool:
        return self.start <= at < self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """`job_id` works on it; `intended_job_id` is the job that it was launched for. Without either, it may not be ours.

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
    owner_name: str | None = None  # as a launcher's tag names it
    contested_at: str | None = None
    contested_by: int | None = None
    confirmed_at: str | None = None  # EC2 or ECS in that account and region has reported the machine itself
    suspected_at: str | None = None
    suspected_reason: str | None = None
    cleaning_owner: str | None = None
    cleaning_since: str | None = None
    occurrences: tuple[Occurrence, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    claims: tuple[Assignment, ...] = ()  # without effect until their installation owns the machine
    version: int = 0
    # Derived from the occurrences and assignments of the machine's present life.
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

    def after(self, *happened: Occurrence) -> "Runner":
        kept = _kept({*self.occurrences, *happened}, owner=self.installation_id)
        known = replace(self._known_since(*(each.at for each in happened)), occurrences=kept)._derived()
        ended = known.terminated_at is not None and any(each.kind is Happening.ENDED for each in happened)
        return known.cleaned() if ended else known

    def confirmed(self, at: str, place: Place) -> "Runner":
        """EC2 or ECS has reported the machine, or describes it, and so tells where it is."""
        return replace(
            self,
            confirmed_at=_earliest(self.confirmed_at, at),
            account_id=place.account_id or self.account_id,
            region=place.region or self.region,
        )._derived()

    def reported_in(self, place: Place) -> "Runner":
        """By a launcher: it counts until EC2 or ECS confirms the machine, and fills in what is not known."""
        if self.confirmed_at:
            return self
        named = place_of(self.runner_id)
        return replace(
            self,
            account_id=named.account_id or self.account_id or place.account_id,
            region=named.region or self.region or place.region,
        )

    def ending(self, end: Occurrence) -> "Runner":
        """As a pass finds it. Its cleanup isn't over until its jobs have been told: then it is `cleaned`."""
        return replace(self.after(end), status=RunnerStatus.CLEANING)

    def cleaned(self) -> "Runner":
        return replace(self, status=RunnerStatus.CLEANED)

    def assigned(self, new: Assignment) -> "Runner":
        """Whoever works on the machine is not an orphan: that takes the suspicion away."""
        merged = _newest(_added(self.assignments, new), owner=self.installation_id)
        known = self._known_since(new.since)
        return replace(known, assignments=merged, suspected_at=None, suspected_reason=None)._derived()

    def claimed(self, claim: Assignment) -> "Runner":
        """Remembers one claim of each installation, for when the machine proves to be that installation's.

        There are far more places than a machine has tenants, so that strangers can't take all of them.
        """
        same = [each for each in self.claims if each.installation_id == claim.installation_id]
        if not same and len(self.claims) >= CLAIMS_KEPT:
            return self
        newest = max((*same, claim), key=lambda each: (each.since, each.job_id))
        others = [each for each in self.claims if each not in same]
        claims = tuple(sorted((*others, newest), key=lambda each: each.installation_id))
        return replace(self._known_since(claim.since), claims=claims)._derived()

    def owned(self, **owner: object) -> "Runner":
        return replace(self, **owner)._derived()  # type: ignore[arg-type]

    @property
    def place(self) -> Place:
        return Place(account_id=self.account_id, region=self.region)

    @property
    def is_runner(self) -> bool:
        """It has an owner, or a pass has found it by its tags. Until then EC2 and ECS report just any machine."""
        return self.installation_id is not None or self.suspected_at is not None or self.kind is not None

    @property
    def last_change_at(self) -> str:
        dated = [each.at for each in self.occurrences]
        dated += [each.since for each in (*self.assignments, *self.claims)]
        return max((*dated, self.contested_at or "", self.confirmed_at or "", self.created_at))

    @property
    def effective(self) -> tuple[Assignment, ...]:
        """The owner's, and those of the same jobs that other hooks report, the earliest first.

        A job's id is public, so another hook must also name the job's repository, and one of the two have no App.
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
        """For that job of that repository: the holder of a hook's secret can name any job's id."""
        wanted = (job_id, (repo_full_name or "").lower())
        return bool(repo_full_name) and any(each.named_job == wanted for each in self._of_owner())

    def life_of(self, since: str) -> Life:
        """An assignment to a machine that has ended is for its next life, which may not have begun."""
        every = self.lives()
        for life in every:
            if since < life.until and since <= (life.end or AFTER_ALL):
                return life
        return Life(start=every[-1].until)

    def lives(self) -> list[Life]:
        """A start that follows an end begins a new life."""
        starts = [BEFORE_ALL]
        for start in self._of_kind(Happening.STARTED):
            if any(starts[-1] <= end.at < start.at for end in self._of_kind(Happening.ENDED)):
                starts.append(start.at)
        return [self._life(start, until) for start, until in pairwise((*starts, AFTER_ALL))]

    def first(self, *kinds: Happening, life: Life, since: str = BEFORE_ALL) -> str | None:
        """A warning after the end is about a life whose start is not known yet."""
        found = [each for each in self._of_kind(*kinds) if each.at >= since and life.spans(each.at)]
        end = life.end or AFTER_ALL
        return min((each.at for each in found if each.kind not in WARNINGS or each.at <= end), default=None)

    def _life(self, start: str, until: str) -> Life:
        ends = [each for each in self._of_kind(Happening.ENDED) if start <= each.at < until]
        if not ends:
            return Life(start=start, until=until)
        return Life(start=start, end=min(ends).at, reason=min(ends).reason or None, until=until)

    def _of_kind(self, *kinds: Happening) -> Iterator[Occurrence]:
        """A launcher's report counts if it is about the owner's installation: any publisher can name any machine."""
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
            attached_at=self.first(Happening.STARTED, Happening.ATTACHMENT_REPORTED, life=life),
            rebalance_recommended_at=self.first(Happening.REBALANCE_RECOMMENDED, life=life),
            interrupted_at=self.first(Happening.WARNED, life=life),
            terminated_at=life.end,
            terminated_reason=life.reason,
            termination_reported_at=self.first(Happening.END_REPORTED, life=life),
        )
        return derived._with_job()._with_status(life)

    def _with_job(self) -> "Runner":
        every = [each for each in self.effective if each.installation_id == self.installation_id]
        present = [each for each in every if self.life_of(each.since).until == AFTER_ALL]
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
        if (self.suspected_at or AFTER_ALL) < life.start:
            renewed = replace(renewed, suspected_at=None, suspected_reason=None)
        if (self.cleaning_since or AFTER_ALL) < life.start or self.status is RunnerStatus.CLEANED:
            renewed = replace(renewed, status=RunnerStatus.ACTIVE, cleaning_owner=None, cleaning_since=None)
        return renewed

    def _known_since(self, *instants: str) -> "Runner":
        """The earliest of all inputs, including those that are no longer kept."""
        return replace(self, created_at=min((self.created_at, *instants)))


def machine_of(runner: Runner, assignment: Assignment) -> MachineFacts:
    """What the job's own plan says of the machine. Without one: another job's plan, completed by what AWS says.

    AWS is asked about a machine that the job's own plan names only if the plan arrives late: so that must not count.
    """
    own = [each for each in runner.effective if each.job_id == assignment.job_id]
    if plans := [each.machine for each in own if each.is_plan]:
        return plans[0]
    found = next((each.machine for each in own if each.job == assignment.job), NO_FACTS)
    other = plan_before(runner, assignment)
    return other.machine.over(found) if other else found


def plan_before(runner: Runner, assignment: Assignment) -> Assignment | None:
    """The newest plan in the same life that was made before the job began there, for whichever job."""
    life = runner.life_of(assignment.since)
    plans = [
        each
        for each in runner.effective
        if each.is_plan and each.since <= assignment.since and runner.life_of(each.since) == life
    ]
    return plans[-1] if plans else None


def _added(assignments: Iterable[Assignment], new: Assignment) -> tuple[Assignment, ...]:
    """By time. A job has at most one plan and one fact of a machine."""
    others = []
    for each in assignments:
        if each.job == new.job and each.is_plan == new.is_plan:
            new = new.merged(each)
        else:
            others.append(each)
    return tuple(sorted((*others, new), key=lambda each: (each.since, not each.is_plan, each.job)))


def _kept(occurrences: Iterable[Occurrence], *, owner: int | None) -> tuple[Occurrence, ...]:
    """Launchers' reports are bounded apart, so that they can't push out what AWS reported.

    The newest of each kind and installation counts, and the owner's are the last to go.
    """
    every = sorted(occurrences)
    observed = [each for each in every if each.kind not in REPORTS]
    newest = {(each.kind, each.reason): each for each in every if each.kind in REPORTS}
    reports = sorted(newest.values(), key=lambda each: (each.reason == str(owner), each))
    return tuple(sorted((*observed[-OCCURRENCES_KEPT:], *reports[-REPORTS_KEPT:])))


def _newest(assignments: tuple[Assignment, ...], *, owner: int | None) -> tuple[Assignment, ...]:
    """Those of other hooks go first, so that none of them can push out the owner's."""
    kept = list(assignments)
    while len(kept) > ASSIGNMENTS_KEPT:
        kept.remove(next((each for each in kept if each.installation_id != owner), kept[0]))
    return tuple(kept)


def _earliest(*instants: str | None) -> str | None:
    return min((each for each in instants if each), default=None)
