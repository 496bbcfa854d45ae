"""A machine, its occurrences and its assignments, dated by the minute."""

from itertools import permutations

from runledger.model.assignments import (
    Assignment,
    MachineFacts,
    Occurrence,
    OccurrenceKind,
)
from runledger.model.keys import JobKey
from runledger.model.runner import Runner
from runledger.runners.machine_messages import messages

OWNER, HOOK = 41, 0
MACHINE = "i-0abc1234def567890"


def clock(minute: int) -> str:
    return f"2025-01-15T{10 + minute // 60}:{minute % 60:02}:00.000Z"


def happened(kind: OccurrenceKind, minute: int, reason: str = "") -> Occurrence:
    return Occurrence(clock(minute), kind, reason)


def started(minute: int) -> Occurrence:
    return happened(OccurrenceKind.STARTED, minute)


def ended(minute: int, reason: str = "terminated") -> Occurrence:
    return happened(OccurrenceKind.ENDED, minute, reason)


def warned(minute: int) -> Occurrence:
    return happened(OccurrenceKind.WARNED, minute)


def plan(job_id: int, minute: int, **facts: object) -> Assignment:
    machine = MachineFacts(**facts)  # type: ignore[arg-type]
    return Assignment(
        installation_id=OWNER,
        job_id=job_id,
        since=clock(minute),
        is_plan=True,
        repo_full_name="acme/web",
        machine=machine,
    )


def fact(
    job_id: int, minute: int, *, installation_id: int = OWNER, repo: str = "acme/web", **facts: object
) -> Assignment:
    machine = MachineFacts(**facts)  # type: ignore[arg-type]
    return Assignment(
        installation_id=installation_id,
        job_id=job_id,
        since=clock(minute),
        is_plan=False,
        repo_full_name=repo,
        machine=machine,
    )


def runner(*inputs: Occurrence | Assignment, owner: int | None = OWNER) -> Runner:
    known = Runner(runner_id=MACHINE, created_at=clock(600), installation_id=owner)
    for each in inputs:
        known = known.after(each) if isinstance(each, Occurrence) else known.assigned(each)
    return known


def in_any_order(*inputs: Occurrence | Assignment) -> Runner:
    ended_as = {repr(runner(*order)) for order in permutations(inputs)}
    assert len(ended_as) == 1
    return runner(*inputs)


def messages_of(known: Runner, job_id: int, installation_id: int = OWNER) -> list[tuple[str, str]]:
    return [(each.event_type.value, each.received_at) for each in messages(known, JobKey(installation_id, job_id))]
