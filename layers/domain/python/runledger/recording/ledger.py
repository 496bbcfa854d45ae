"""The write protocol: history first, state last, everything in between safe to do again.

    read the job ── decide ── put the event ── apply effects ── save the job
          ▲           ▲                              │             │
          │           └──── a review was recorded ◄──┘             │
          └──────────────── another process saved the job ◄────────┘

Until the job is saved the receipt isn't recorded, and every step can be done again. So a crash anywhere followed by a
retry of the same receipt leaves the same tables as no crash.

A message about a machine may be obsolete when it is retried, because another input was recorded in between. Then
nothing replaces what the first attempt wrote, and `undo_unsaved_events` corrects it.

A job that joins a gate gets the reviews that are already recorded. They change the job, so the first decision can't be
saved any more, and the receipt is decided on again at once. Joining is the last effect: a review has fewer details of
the run, so the job's own receipt must create the run first.
"""

import random
import time
from collections.abc import Callable
from dataclasses import replace

from runledger.model.dataclass import dataclass
from runledger.model.errors import ContendedError, LostRace
from runledger.model.inputs import EventType, Receipt
from runledger.model.job import Job
from runledger.model.reports import DeploymentReport, Input, InstallationReport, Review, RunReport, Waiting
from runledger.model.runs import RerunPolicy
from runledger.recording import approvals
from runledger.recording.decision import (
    CountJob,
    Decision,
    Effect,
    LookUpRunner,
    NameRun,
    NoteInterrupted,
    NoteNotInterrupted,
    Outcome,
    RegisterRepository,
    decide,
    interruption_of,
)
from runledger.recording.follow_up_queue import FollowUps
from runledger.recording.leftovers import unsaved
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.events import EventsTable
from runledger.tables.gates import Gates
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.jobs import JobsTable
from runledger.tables.runs import RunsTable

TRIES = 30
LONGEST_PAUSE_SECONDS = 0.2


def pause(tries: int) -> None:
    """Exponential backoff with full jitter."""
    time.sleep(random.uniform(0, min(LONGEST_PAUSE_SECONDS, 0.005 * 2**tries)))  # noqa: S311


def _contended(installation_id: int, job_id: int) -> ContendedError:
    return ContendedError(f"gave up on job {installation_id}#{job_id} after {TRIES} concurrent changes")


class Reviewed(LostRace):
    """Reviews at the gate were recorded on the job after it was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    jobs: JobsTable
    events: EventsTable
    installations: InstallationsRegistry
    runs: RunsTable
    deployments: DeploymentsTable
    gates: Gates
    follow_ups: FollowUps
    rerun: RerunPolicy = RerunPolicy.INTERRUPTED
    pause: Callable[[int], None] = pause
    defer: Callable[[Review], None] | None = None  # to a function that has more time
    recorded: Callable[[Input, Decision | None], None] = lambda _input, _decision: None
    """Called for each input once it is recorded, whatever its source. A deferred review counts as recorded."""

    def dispatch(self, received: Input) -> Decision | None:
        """A receipt is recorded on its job. A report is one conditional write, except a review: see `_review`."""
        if isinstance(received, Receipt):
            return self.record(received)
        match received:
            case RunReport():
                if self.runs.absorb(received).may_be_rerun(self.rerun):
                    self.follow_ups.consider_rerun(received)
            case DeploymentReport():
                self.deployments.absorb(received)
            case Review():
                self._review(received)
            case InstallationReport():
                self.installations.absorb(received)
        self.recorded(received, None)
        return None

    def _review(self, review: Review) -> None:
        """One approval may affect hundreds of jobs. Several parts are deferred: intake must respond within seconds."""
        if review.jobs is not None:
            approvals.apply(review, self.deployments, self.record)
            return
        parts = list(approvals.parts(review, self.gates))
        for part in parts:
            if self.defer and len(parts) > 1:
                self.defer(part)
            else:
                approvals.apply(part, self.deployments, self.record)

    def record(self, receipt: Receipt) -> Decision:
        decision = self._record(receipt)
        self.recorded(receipt, decision)
        return decision

    def _record(self, receipt: Receipt) -> Decision:
        joined: set[Waiting] = set()
        if receipt.event_type is EventType.WEBHOOK_QUEUED:
            # Most jobs are new with this event, so assuming that saves the read.
            try:
                if opened := self._open(receipt, joined):
                    return opened
                job = self._read(receipt)
            except LostRace as lost:
                job = lost.current or self._read(receipt, consistent=True)
        else:
            # A message about a machine may be ignored, and then no conditional write detects a stale job.
            job = self._read(receipt, consistent=receipt.is_about_machine)
        return self._record_on(job, receipt, joined)

    def _open(self, receipt: Receipt, joined: set[Waiting]) -> Decision | None:
        decision = decide(None, receipt)
        if not self.events.put_if_new(decision.event):
            return None
        return self._commit(None, decision, joined)

    def _record_on(self, job: Job | None, receipt: Receipt, joined: set[Waiting]) -> Decision:
        event_is_ours = False
        lost: Decision | None = None
        for tries in range(TRIES):
            decision = decide(job, receipt)
            if lost is not None:
                self._take_back(lost, decision, receipt)
            if decision.outcome in (Outcome.REPEATED, Outcome.IGNORED):
                return decision
            if decision.may_be_repeated and not event_is_ours:
                event_is_ours = self.events.put_if_new(decision.event)
            else:
                self.events.put(decision.event)
            if decision.job is job:
                return decision
            try:
                return self._commit(job, decision, joined)
            except Reviewed as reviewed:
                lost, job = decision, reviewed.current
            except LostRace:
                # The item that the failed write returned may be stale after the pause.
                lost = decision
                self.pause(tries)
                job = self._read(receipt, consistent=True)
        raise _contended(receipt.installation_id, receipt.job_id)

    def _join(self, waiting: Waiting, before: Job | None) -> None:
        job = approvals.join(waiting, self.gates, self.deployments, self.record)
        if job and (before is None or job.version > before.version):
            raise Reviewed(job)

    def _take_back(self, lost: Decision, now: Decision, receipt: Receipt) -> None:
        """Corrects what a decision that wasn't saved has written, unless the new one replaces it."""
        saved_by_another = now.job.inputs.count(receipt.token) >= lost.job.inputs.count(receipt.token)
        if now.outcome is Outcome.IGNORED and not saved_by_another:
            self.events.put(replace(now.event, short_id=lost.event.short_id))
        if any(isinstance(each, NoteInterrupted | NoteNotInterrupted) for each in lost.effects):
            self._apply(interruption_of(now.job))

    def undo_unsaved_events(self, installation_id: int, job_id: int) -> None:
        """Corrects what an attempt that died or failed has written about a machine, unless it was recorded since.

        The job gets a new version first. A process that decided on the old version can then no longer save it. So
        nothing that is corrected here can be committed afterwards.
        """
        events = self.events.changes_by_machines(installation_id, job_id)
        for tries in range(TRIES):
            job = self.jobs.get(installation_id, job_id, consistent=True) if events else None
            if job is None or not (leftovers := unsaved(job, events)):
                return
            if job.run_is_known:
                self._apply(interruption_of(job))
            renewed = replace(job, version=job.version + 1)
            try:
                self.jobs.save(job, renewed)
            except LostRace:
                self.pause(tries)
                continue
            for event in leftovers:
                self.events.remove_changes(event, renewed)
            return
        raise _contended(installation_id, job_id)

    def _commit(self, before: Job | None, decision: Decision, joined: set[Waiting]) -> Decision:
        """`joined` holds the gates that an earlier try has joined. They are skipped."""
        for effect in decision.effects:
            if not isinstance(effect, Waiting):
                self._apply(effect)
            elif (gate := replace(effect, at="")) not in joined:
                joined.add(gate)
                self._join(effect, before)
        saved = self.jobs.save(before, decision.job)
        return decision if saved else replace(decision, may_be_saved_by_another=True)

    def _apply(self, effect: Effect) -> None:
        match effect:
            case RegisterRepository():
                self.installations.register(
                    installation_id=effect.installation_id,
                    org_name=effect.org_name,
                    repo_full_name=effect.repo_full_name,
                    first_seen_at=effect.first_seen_at,
                    named_at=effect.named_at,
                )
            case CountJob():
                self.runs.count(effect.job, first=effect.first, is_guess=effect.is_guess)
            case NameRun():
                self.runs.name(effect.job)
            case LookUpRunner():
                self.follow_ups.look_up_runner(effect.job)
            case NoteInterrupted():
                if self.runs.note_interrupted(effect.job).may_be_rerun(self.rerun):
                    self.follow_ups.consider_rerun(effect.job)
            case NoteNotInterrupted():
                self.runs.note_not_interrupted(effect.job)

    def _read(self, receipt: Receipt, *, consistent: bool = False) -> Job | None:
        """The first read is eventually consistent, at half the price: a decision on a stale job can't be saved."""
        return self.jobs.get(receipt.installation_id, receipt.job_id, consistent=consistent)
