"""The messages to jobs about their machine. Pure.

A job gets only what happened at or after the start of its assignment, in the life that contains the assignment. Each
message names its machine and is derived from the runner alone, so a repeated message does not change the job.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from runledger.model.assignments import Assignment, Life, Occurrence, OccurrenceKind
from runledger.model.dataclass import dataclass
from runledger.model.inputs import EventType, Facts, Receipt, Source
from runledger.model.keys import JobKey
from runledger.model.runner import Runner, machine_of, plan_before
from runledger.model.times import BEFORE_ALL

REPORTED = "reported by the launcher"
RETURNED = "returned to the job"
DIGEST_LENGTH = 8
ALL_KINDS = frozenset(OccurrenceKind)
CAUSES = {
    EventType.RUNNER_ATTACHED: frozenset({OccurrenceKind.STARTED, OccurrenceKind.ATTACHMENT_REPORTED}),
    EventType.RUNNER_REBALANCE_RECOMMENDED: frozenset({OccurrenceKind.REBALANCE_RECOMMENDED}),
    EventType.RUNNER_INTERRUPTED: frozenset({OccurrenceKind.WARNED}),
    EventType.RUNNER_TERMINATED: frozenset({OccurrenceKind.ENDED}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A job's assignments to a machine, in one life."""

    plan: Assignment | None
    fact: Assignment | None
    life: Life

    @property
    def leading(self) -> Assignment:
        leading = self.fact or self.plan
        assert leading is not None
        return leading

    @property
    def since(self) -> str:
        return min(each.since for each in (self.plan, self.fact) if each)


def placements(runner: Runner) -> dict[JobKey, Placement]:
    """Empty while two owners contest the machine, or while it has no owner."""
    if runner.contested_at or runner.installation_id is None:
        return {}
    placed: dict[JobKey, Placement] = {}
    for job in dict.fromkeys(each.job for each in runner.effective_assignments):
        # Two hooks may report one job. The launcher's plan applies to both copies.
        own = [each for each in runner.effective_assignments if each.job_id == job[1]]
        plan = next((each for each in own if each.is_plan), None)
        fact = next((each for each in own if each.job == job and not each.is_plan), None)
        life = runner.life_of((fact or own[0]).since)
        if fact and plan and runner.life_of(plan.since) != life:
            plan = None
        placed[job] = Placement(plan=plan, fact=fact, life=life)
    return placed


def description(runner: Runner, job: JobKey, *, at: str | None = None) -> Receipt | None:
    """Describes the machine to a job that runs on it according to GitHub. None for any other job."""
    placement = placements(runner).get(job)
    if placement is None or placement.fact is None:
        return None
    return _description(runner, placement.fact, plan=placement.plan, at=at)


def is_described_by(runner: Runner, job: JobKey, other: JobKey) -> bool:
    """Whether an assignment of the other job may change the machine's description for this job.

    It may if this job's claim has just taken effect, or if the machine was planned for the other job.
    """
    fact = placements(runner)[job].fact
    if fact is None:
        return False
    plan = placements(runner)[job].plan or plan_before(runner, fact)
    return fact in runner.claims or (plan is not None and plan.job == other)


def _description(runner: Runner, fact: Assignment, *, plan: Assignment | None, at: str | None) -> Receipt:
    machine = machine_of(runner, fact)
    before = plan or plan_before(runner, fact)
    facts = Facts(
        repo_full_name=fact.repo_full_name,
        instance_id=runner.runner_id,
        scheduled_at=plan.since if plan else _scheduled(runner, fact, taken=before is not None),
        **machine.of_job(),
    )
    return Receipt(
        installation_id=fact.installation_id,
        job_id=fact.job_id,
        delivery_id=f"{runner.runner_id} found for {fact.job_id} {_digest(facts)}",
        received_at=at or fact.since,
        event_type=EventType.RUNNER_ATTACHED,
        source=Source.INTERNAL,
        facts=facts,
    )


def _digest(facts: Facts) -> str:
    """Part of a message's id. Two functions may describe a machine at the same time, one of them without the newest
    plan.

    If both messages had the same id, the unsaved one could replace the history event of the other.
    """
    known = {name: value for name, value in vars(facts).items() if value is not None}
    # DynamoDB removes trailing zeros of a number.
    values = {name: value.normalize() if isinstance(value, Decimal) else value for name, value in known.items()}
    return hashlib.sha256(repr(sorted(values.items())).encode()).hexdigest()[:DIGEST_LENGTH]


def _scheduled(runner: Runner, fact: Assignment, *, taken: bool) -> str:
    """The launch of the machine, or the start of the job if the machine was not launched for it.

    The machine was not launched for a job that took another job's runner, or that runs in a later life of the machine.
    """
    launched_at = fact.machine.launched_at
    if not launched_at or taken or launched_at > fact.since:
        return fact.since
    return launched_at if runner.life_of(launched_at) == runner.life_of(fact.since) else fact.since


def jobs_to_describe_again(runner: Runner, occurrence: Occurrence) -> list[JobKey]:
    """Jobs whose description may change: an end or a start before the job began can put it into another life."""
    if occurrence.kind not in (OccurrenceKind.STARTED, OccurrenceKind.ENDED):
        return []
    return [
        job
        for job, placement in placements(runner).items()
        if placement.fact and placement.life.start != BEFORE_ALL and occurrence.at <= placement.fact.since
    ]


def messages(runner: Runner, job: JobKey, kinds: frozenset[OccurrenceKind] = ALL_KINDS) -> Iterator[Receipt]:
    """Messages of these kinds. A lost machine comes first, because the job then ignores the other messages."""
    placement = placements(runner).get(job)
    if placement is None:
        return
    if (taker := _taker(runner, placement)) is not None:
        assert placement.plan is not None
        facts = Facts(instance_id=runner.runner_id, scheduled_at=placement.plan.since)
        yield _message(runner, placement, EventType.RUNNER_TAKEN, taker.since, facts)
    elif (returned := _returned(runner, placement)) is not None:
        yield returned
        kinds = ALL_KINDS
    here = Facts(instance_id=runner.runner_id)
    for event_type, causes in CAUSES.items():
        at = runner.first_time_of(*causes, life=placement.life, since=placement.since)
        if at is not None and kinds & causes:
            facts = Facts(
                instance_id=runner.runner_id,
                interrupted_at=at if event_type is EventType.RUNNER_INTERRUPTED else None,
                terminated_at=at if event_type is EventType.RUNNER_TERMINATED else None,
            )
            yield _message(runner, placement, event_type, at, facts)
    reported_at = runner.first_time_of(OccurrenceKind.END_REPORTED, life=placement.life, since=placement.since)
    if reported_at and OccurrenceKind.END_REPORTED in kinds and placement.life.end is None:
        yield _message(runner, placement, EventType.RUNNER_TERMINATED, reported_at, here, action=REPORTED)


def _taker(runner: Runner, placement: Placement) -> Assignment | None:
    """The job that runs on the machine although the machine was launched for this job.

    A job with its own plan doesn't take the machine: it reuses it.
    """
    plan = placement.plan
    if plan is None:
        return None
    planned = {each.job_id for each in runner.effective_assignments if each.is_plan and each.since >= plan.since}
    others = [each for each in _others_since(runner, placement) if each.job_id not in planned]
    return next((each for each in others if runner.life_of(each.since) == placement.life), None)


def _others_since(runner: Runner, placement: Placement) -> list[Assignment]:
    """Other jobs that ran on the machine after it was planned for this job. Empty if this job ran there."""
    plan = placement.plan
    if plan is None or placement.fact is not None:
        return []
    own = [each for each in runner.effective_assignments if each.installation_id == runner.installation_id]
    return [each for each in own if not each.is_plan and each.job_id != plan.job_id and each.since >= plan.since]


def _returned(runner: Runner, placement: Placement) -> Receipt | None:
    """Returns the machine to a job that has lost it to another job.

    When the job lost it, the other job's own plan, or the start of another life, was not yet reported.
    """
    plan, others = placement.plan, _others_since(runner, placement)
    if plan is None or not others:
        return None
    facts = Facts(instance_id=runner.runner_id, scheduled_at=plan.since, **plan.machine.of_job())
    at = others[0].since
    message = _message(runner, placement, EventType.RUNNER_ATTACHED, at, facts, action=RETURNED)
    return replace(message, delivery_id=f"{message.delivery_id} {_digest(facts)}", returns=runner.runner_id)


def _message(
    runner: Runner,
    placement: Placement,
    event_type: EventType,
    at: str,
    facts: Facts,
    *,
    action: str | None = None,
) -> Receipt:
    return Receipt(
        installation_id=placement.leading.installation_id,
        job_id=placement.leading.job_id,
        delivery_id=" ".join(filter(None, (runner.runner_id, event_type, action, at))),
        received_at=at,
        event_type=event_type,
        source=Source.INTERNAL,
        action=action,
        releases=runner.runner_id if event_type is EventType.RUNNER_TAKEN else None,
        facts=facts,
    )
