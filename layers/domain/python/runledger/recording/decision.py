"""`decide`: the pure function that turns a job and an input into the new job, its history event and its effects."""

import dataclasses
from collections.abc import Mapping
from enum import StrEnum
from operator import attrgetter
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.model.inputs import Event, EventType, Facts, Receipt, Source, Status
from runledger.model.job import RERUN_CONCLUSIONS, Job
from runledger.model.reports import LONGEST_JOB_NAME, RUN_NAMES, GateJob, Waiting


class Outcome(StrEnum):
    RECORDED = "recorded"
    DUPLICATE = "duplicate"  # received before: adds a history event, and at most updates the time of the current status
    REPEATED = "repeated"  # our own retry of a recorded input: changes nothing
    IGNORED = "ignored"  # about a machine that isn't the job's, or nothing new about it: changes nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterRepository:
    """Adds the repository to the registry of its installation, for the reconciler and for statistics."""

    installation_id: int
    org_name: str | None
    repo_full_name: str | None
    first_seen_at: str
    named_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountJob:
    """Updates the counters of the job's run.

    That happens at the first input, at completion, and if an input corrects the job's conclusion or creation time.
    """

    job: Job
    first: bool
    is_guess: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRun:
    """Adds the names of a run whose first input, a launcher's plan, contained neither branch nor workflow."""

    job: Job


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUpRunner:
    """GitHub has named the job's runner.

    The name may contain the id of a machine that no launcher reported, or of the planned machine in a later life.
    """

    job: Job


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteInterrupted:
    """The job failed and its runner was interrupted. When the run has completed, the job can be re-run."""

    job: Job


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteNotInterrupted:
    """A later input shows that the job was not interrupted, or that it succeeded: no re-run because of it."""

    job: Job


Effect = RegisterRepository | CountJob | NameRun | Waiting | LookUpRunner | NoteInterrupted | NoteNotInterrupted


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    outcome: Outcome
    job: Job
    event: Event
    effects: tuple[Effect, ...] = ()
    may_be_saved_by_another: bool = False  # another process may have saved the same input: see `JobsTable.save`
    may_be_repeated: bool = False  # its history event may exist already: the job may have dropped its token

    @property
    def is_news(self) -> bool:
        return self.outcome is Outcome.RECORDED


# The history omits the identity of a job, which never changes, and bookkeeping, which means nothing to users.
IDENTITY = {
    *("installation_id", "job_id", "run_id", "run_attempt", "org_name", "repo_full_name", "repo_is_private"),
    *("workflow_id", "workflow_name", "job_name", "head_sha", "head_branch", "default_branch", "job_html_url"),
    *("labels", "custom_properties", "environment"),
}
BOOKKEEPING = {
    *("received_at", "last_updated_at", "version", "webhooks", "inputs"),
    *("queued_reported_at", "waiting_reported_at", "created_at_is_guessed", "completed_at_is_guessed"),
}
WEBHOOKS_AT_MOST = 50  # each hook sends at most five, and two for each approval; beyond it, see `_is_duplicate`
TRACKED = tuple(each.name for each in dataclasses.fields(Job) if each.name not in IDENTITY | BOOKKEEPING)
NOTHING = (None,) * len(TRACKED)
_tracked = attrgetter(*TRACKED)


def decide(job: Job | None, receipt: Receipt) -> Decision:
    before = job or Job.opened_by(receipt)
    if receipt.is_about_machine and not before.is_changed_by(receipt):
        return Decision(outcome=Outcome.IGNORED, job=before, event=_event(receipt, before))
    if job is not None and _is_repeated(job, receipt):
        return Decision(outcome=Outcome.REPEATED, job=job, event=_event(receipt, job))
    if job is not None and _is_duplicate(job, receipt):
        after = job.queued_again(receipt.received_at) if _may_follow_an_approval(job, receipt) else job
        return Decision(outcome=Outcome.DUPLICATE, job=after, event=_event(receipt, job, duplicate=True))
    if job is not None and job.status is Status.COMPLETED and receipt.is_guess:
        receipt = dataclasses.replace(receipt, status=None, facts=Facts())
    after = before.absorb(receipt)
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
    """A webhook is identified by its signed body, whatever its delivery id. An internal input is identified by its id.

    After an approval GitHub sends `queued` again, and its body can be the same as the first. So while the job waits,
    only the same delivery is a duplicate. A replay can exploit this once for each `waiting` webhook: it moves the job
    to `queued`, and no replayed `waiting` moves it back. If the second `queued` overtakes `waiting`, it is a duplicate
    whose time counts: see `_may_follow_an_approval`.

    The tokens of duplicates are not stored, so replays cannot fill the list. If distinct bodies fill it, only webhooks
    that advance the job are recorded. There are at most two of them, and their tokens are stored beyond the limit.
    """
    if receipt.body_digest is None:
        return not receipt.is_machine_state and any(token.startswith(receipt.delivery_token) for token in job.inputs)
    approved = receipt.status is Status.QUEUED and job.status is Status.WAITING
    prefix = receipt.delivery_token if approved else receipt.body_id
    if any(token.startswith(prefix) for token in job.webhooks):
        return True
    return len(job.webhooks) >= WEBHOOKS_AT_MOST and not _advances(job, receipt)


def _may_follow_an_approval(job: Job, receipt: Receipt) -> bool:
    """Whether a duplicate `queued` may be the one after an approval, received before its `waiting`.

    Only the time of the report changes. A replay has no effect, because a genuine `waiting` is received after it.
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
        effects.append(_registered_repository(receipt))
    if after.run_is_known and (before is None or _counts_again(before, after)):
        first = before is None or not before.run_is_known
        effects.append(CountJob(job=after, first=first, is_guess=receipt.is_guess))
    elif before is not None and before.run_is_known and _names_run(before, after):
        effects.append(NameRun(job=after))
    if _names_runner(before, after, receipt) or _begins_later_life(before, after):
        effects.append(LookUpRunner(job=after))
    if _calls_for_rerun(after) != (before is not None and _calls_for_rerun(before)):
        effects.append(interruption_of(after))
    if (waiting := gate_of(after)) and (before is None or not _waits_at(waiting, before)):
        effects.append(waiting)
    return tuple(effects)


def _changes(before: Job | None, after: Job) -> Mapping[str, Mapping[str, Any]]:
    """There are no nulls: a new field has no `from`, and a removed one has no `to`."""
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
    """A job can lose a machine and get it back several times. `nth` gives each time an event of its own."""
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
    previous = before.runner_name if before else None
    if after.carried_over:
        return False
    is_from_github = receipt.source is Source.GITHUB_WEBHOOK or receipt.event_type is EventType.JOB_RECONCILED
    return is_from_github and after.runner_name not in (None, previous)


def _begins_later_life(before: Job | None, after: Job) -> bool:
    """The start of the job, or the earlier end of its machine, is new. An end that is recorded again is new again."""
    return after.machine_was_restarted and not (before is not None and before.machine_was_restarted)


def interruption_of(job: Job) -> NoteInterrupted | NoteNotInterrupted:
    return NoteInterrupted(job=job) if _calls_for_rerun(job) else NoteNotInterrupted(job=job)


def _calls_for_rerun(job: Job) -> bool:
    """Whether its run can be re-run because this job was interrupted. An estimated completion doesn't count."""
    ended = job.run_is_known and job.status is Status.COMPLETED and job.conclusion in RERUN_CONCLUSIONS
    return ended and bool(job.was_interrupted) and not job.completed_at_is_guessed


def _names_owner(before: Job, facts: Facts) -> bool:
    """The first input may be a launcher's plan, without an organisation. A repository may be renamed during a job."""
    org_is_news = before.org_name is None and facts.org_name is not None
    return org_is_news or facts.repo_full_name not in (None, before.repo_full_name)


def _counts_again(before: Job, after: Job) -> bool:
    completes = before.status is not Status.COMPLETED and after.status is Status.COMPLETED
    is_older = after.created_at < before.created_at
    return not before.run_is_known or completes or is_older or before.failed != after.failed


def _names_run(before: Job, after: Job) -> bool:
    return any(getattr(before, name) is None and getattr(after, name) is not None for name in RUN_NAMES)


def gate_of(job: Job) -> Waiting | None:
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
    previous = gate_of(before)
    return previous is not None and (previous.job, previous.environment) == (waiting.job, waiting.environment)


def _registered_repository(receipt: Receipt) -> RegisterRepository:
    return RegisterRepository(
        installation_id=receipt.installation_id,
        org_name=receipt.account,
        repo_full_name=receipt.facts.repo_full_name,
        first_seen_at=receipt.received_at,
        named_at=receipt.owner_named_at,
    )
