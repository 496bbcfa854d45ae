"""The one pure function through which every input goes: what is known, what is said, what follows."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Any

from runledger.model.inputs import Event, EventType, Facts, Receipt, Source, Status
from runledger.model.job import FAILURES, Job
from runledger.model.reports import LONGEST_JOB_NAME, RUN_NAMES, GateJob, Waiting


class Outcome(StrEnum):
    RECORDED = "recorded"
    DUPLICATE = "duplicate"  # it was received before: a line of history, and at most a newer time of the same status
    REPEATED = "repeated"  # we retried what was already done: nothing at all
    IGNORED = "ignored"  # about a machine that the job doesn't have, or already knew: nothing at all


@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """The reconciler must know whom to ask about, and statistics of an installation which repositories it has."""

    installation_id: int
    org_name: str | None
    repo_full_name: str | None
    first_seen_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CountJob:
    """In the counters of its run: when it is first seen, when it completes, and when a report corrects its conclusion
    or shows that it is older. A run is as old as its oldest job."""

    job: Job
    first: bool
    is_guess: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRun:
    """The run was first counted from a launcher's plan, which names neither its branch nor its workflow."""

    job: Job


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerNamed:
    """GitHub names the runner of a job. The name may lead to a machine that no launcher reported, or to a later life
    of the machine that the job was planned for."""

    job: Job


@dataclass(frozen=True, slots=True, kw_only=True)
class CutShort:
    """A job did not succeed and its runner was interrupted: once the run is over, it may be run again."""

    job: Job


@dataclass(frozen=True, slots=True, kw_only=True)
class NotCutShort:
    """A later input shows that the job was not interrupted, or that it succeeded: a re-run must not count it."""

    job: Job


Effect = Register | CountJob | NameRun | Waiting | RunnerNamed | CutShort | NotCutShort


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    outcome: Outcome
    job: Job
    event: Event
    effects: tuple[Effect, ...] = ()
    may_be_repeated: bool = False  # its line of history may exist, from a time that the job no longer remembers

    @property
    def is_news(self) -> bool:
        return self.outcome is Outcome.RECORDED


# Who a job is never changes in its life, and what we keep for ourselves says nothing: history repeats neither.
IDENTITY = {
    *("installation_id", "job_id", "run_id", "run_attempt", "org_name", "repo_full_name", "repo_is_private"),
    *("workflow_id", "workflow_name", "job_name", "head_sha", "head_branch", "default_branch", "job_html_url"),
    *("labels", "custom_properties", "environment"),
}
CUT_SHORT = {*FAILURES, "cancelled"}  # what "re-run failed jobs" runs again
BOOKKEEPING = {
    *("received_at", "last_updated_at", "version", "webhooks", "inputs"),
    *("queued_reported_at", "waiting_reported_at", "created_at_is_guessed"),
}
# A job has at most five webhooks from each hook, and two for each approval; see `_is_duplicate` for what follows them.
WEBHOOKS_KEPT = 50
TRACKED = tuple(each.name for each in dataclasses.fields(Job) if each.name not in IDENTITY | BOOKKEEPING)
NOTHING = (None,) * len(TRACKED)
_tracked = attrgetter(*TRACKED)


def decide(job: Job | None, receipt: Receipt) -> Decision:
    if receipt.is_about_machine and not (known := job or Job.opened_by(receipt)).is_changed_by(receipt):
        return Decision(outcome=Outcome.IGNORED, job=known, event=_event(receipt, known))
    if job is not None and _is_repeated(job, receipt):
        return Decision(outcome=Outcome.REPEATED, job=job, event=_event(receipt, job))
    if job is not None and _is_duplicate(job, receipt):
        after = job.queued_again(receipt.received_at) if _may_follow_an_approval(job, receipt) else job
        return Decision(outcome=Outcome.DUPLICATE, job=after, event=_event(receipt, job, duplicate=True))
    if job is not None and job.status is Status.COMPLETED and receipt.is_guess:
        receipt = dataclasses.replace(receipt, status=None, facts=Facts())
    after = (job or Job.opened_by(receipt)).absorb(receipt)
    return Decision(
        outcome=Outcome.RECORDED,
        job=after,
        event=_event(receipt, after, changes=_changes(job, after), nth=job.inputs.count(receipt.token) if job else 0),
        effects=_effects(job, after, receipt),
        may_be_repeated=job is not None and job.may_be_repeated(receipt),
    )


def _is_repeated(job: Job, receipt: Receipt) -> bool:
    return not receipt.is_machine_state and receipt.token in (job.webhooks if receipt.body_digest else job.inputs)


def _is_duplicate(job: Job, receipt: Receipt) -> bool:
    """A webhook is known by its signed body, whatever its delivery id; an internal input by its id.

    GitHub sends a job that waits for an approval as `queued` again, and that body can be the same as the first: while
    the job waits, only the same delivery is a duplicate. A replay can use this once for each `waiting` webhook, because
    that moves the job to `queued` and no replayed `waiting` moves it back. If the second `queued` overtakes `waiting`,
    it is a duplicate whose time counts: see `_may_follow_an_approval`.

    Duplicates are not remembered, so replays cannot fill the memory. Should distinct bodies fill it, then only those
    that advance the job are news. There are two of them at most, so they are remembered beyond the limit.
    """
    if receipt.body_digest is None:
        return not receipt.is_machine_state and any(token.startswith(receipt.delivery_token) for token in job.inputs)
    approved = receipt.status is Status.QUEUED and job.status is Status.WAITING
    known = receipt.delivery_token if approved else receipt.body_id
    if any(token.startswith(known) for token in job.webhooks):
        return True
    return len(job.webhooks) >= WEBHOOKS_KEPT and not _advances(job, receipt)


def _may_follow_an_approval(job: Job, receipt: Receipt) -> bool:
    """Whether a duplicate `queued` may be the one after an approval, whose `waiting` has not arrived yet.

    Nothing but the time of that report changes, so a replay gains nothing: a true `waiting` is received after it.
    """
    if receipt.body_digest is None or receipt.status is not Status.QUEUED or job.status is not Status.QUEUED:
        return False
    same_body = [token for token in job.webhooks if token.startswith(receipt.body_id)]
    return (
        bool(same_body)
        and not any(token.startswith(receipt.delivery_token) for token in same_body)
        and job.waiting_reported_at is None
        and job.queued_reported_at is not None
        and receipt.received_at > job.queued_reported_at
    )


def _advances(job: Job, receipt: Receipt) -> bool:
    return receipt.status is not None and receipt.status.rank > job.status.rank


def _effects(before: Job | None, after: Job, receipt: Receipt) -> tuple[Effect, ...]:
    effects: list[Effect] = []
    if before is None or _names_owner(before, receipt.facts) or after.received_at < before.received_at:
        effects.append(_registration(receipt))
    if after.run_is_known and (before is None or _counts_again(before, after)):
        first = before is None or not before.run_is_known
        effects.append(CountJob(job=after, first=first, is_guess=receipt.is_guess))
    elif before is not None and before.run_is_known and _names_run(before, after):
        effects.append(NameRun(job=after))
    if _names_runner(before, after, receipt) or _begins_later_life(before, after):
        effects.append(RunnerNamed(job=after))
    if _was_cut_short(after) != (before is not None and _was_cut_short(before)):
        effects.append(interruption_of(after))
    if (waiting := _waiting(after)) and (before is None or not _waits_at(waiting, before)):
        effects.append(waiting)
    return tuple(effects)


def _changes(before: Job | None, after: Job) -> Mapping[str, Mapping[str, Any]]:
    """Absent is absent: a field that was not there has no `from`."""
    changes = {}
    for name, old, new in zip(TRACKED, _tracked(before) if before else NOTHING, _tracked(after), strict=True):
        if old != new:
            changes[name] = {side: value for side, value in (("from", old), ("to", new)) if value is not None}
    return changes


def _event(
    receipt: Receipt,
    job: Job,
    *,
    changes: Mapping[str, Mapping[str, Any]] | None = None,
    duplicate: bool | None = None,
    nth: int = 0,
) -> Event:
    """A job may lose a machine and get it back: the `nth` time that this is news, it has a line of its own."""
    return Event(
        installation_id=receipt.installation_id,
        job_id=receipt.job_id,
        timestamp=receipt.received_at,
        event_type=receipt.event_type,
        short_id=receipt.nth_short_id(nth),
        source=receipt.source,
        delivery_id=receipt.delivery_id,
        status=job.status,
        version=job.version,
        action=receipt.action,
        changes=changes or None,
        duplicate=duplicate,
        received_by=receipt.received_by,
    )


def _names_runner(before: Job | None, after: Job, receipt: Receipt) -> bool:
    known = before.runner_name if before else None
    if after.carried_over:
        return False
    githubs_word = receipt.source is Source.GITHUB_WEBHOOK or receipt.event_type is EventType.JOB_RECONCILED
    return githubs_word and after.runner_name not in (None, known)


def _begins_later_life(before: Job | None, after: Job) -> bool:
    """Either the start or the earlier end is news. An end that is recorded again is news again."""
    return after.outlived_its_end and not (before is not None and before.outlived_its_end)


def interruption_of(job: Job) -> CutShort | NotCutShort:
    return CutShort(job=job) if _was_cut_short(job) else NotCutShort(job=job)


def _was_cut_short(job: Job) -> bool:
    """Its run may be run again because of it."""
    ended = job.run_is_known and job.status is Status.COMPLETED and job.conclusion in CUT_SHORT
    return ended and bool(job.was_interrupted)


def _names_owner(before: Job, facts: Facts) -> bool:
    """A launcher may be first, without an organisation, and a repository may be renamed while its job runs."""
    org_is_news = before.org_name is None and facts.org_name is not None
    return org_is_news or facts.repo_full_name not in (None, before.repo_full_name)


def _counts_again(before: Job, after: Job) -> bool:
    completes = before.status is not Status.COMPLETED and after.status is Status.COMPLETED
    is_older = after.created_at < before.created_at
    return not before.run_is_known or completes or is_older or before.failed != after.failed


def _names_run(before: Job, after: Job) -> bool:
    return any(getattr(before, name) is None and getattr(after, name) is not None for name in RUN_NAMES)


def _waiting(job: Job) -> Waiting | None:
    if job.deployment_id is None or job.environment is None:
        return None
    if job.run_id is None or job.run_attempt is None or job.repo_full_name is None:
        return None
    return Waiting(
        installation_id=job.installation_id,
        run_id=job.run_id,
        run_attempt=job.run_attempt,
        environment=job.environment,
        job=GateJob(
            job_id=job.job_id,
            deployment_id=job.deployment_id,
            created_at=job.created_at,
            job_name=job.job_name[:LONGEST_JOB_NAME] if job.job_name else None,
        ),
        repo_full_name=job.repo_full_name,
        at=job.last_updated_at,
    )


def _waits_at(waiting: Waiting, before: Job) -> bool:
    known = _waiting(before)
    return known is not None and (known.job, known.environment) == (waiting.job, waiting.environment)


def _registration(receipt: Receipt) -> Register:
    return Register(
        installation_id=receipt.installation_id,
        org_name=receipt.facts.org_name,
        repo_full_name=receipt.facts.repo_full_name,
        first_seen_at=receipt.received_at,
    )
