"""Records assignments and occurrences of a machine on its runner and on its jobs.

    assignment:  check the owner ── record on the job ── add to the runner ── update the jobs
                      ▲                                      │
                      └────────── the runner changed ◄───────┘
    occurrence:  add to the runner ── update the jobs

Updating the jobs means recording on them what happened to their machine: see `job_updates`. The job gets its assignment
before the runner does. So if an assignment and an occurrence arrive together, the later write to the runner finds both,
and updates the job.
"""

from collections.abc import Callable, Mapping
from dataclasses import field

from runledger.model.assignments import Assignment, MachineFacts, Occurrence, OccurrenceKind
from runledger.model.dataclass import dataclass
from runledger.model.errors import NotYours
from runledger.model.inputs import EventType, Facts, Receipt, Source
from runledger.model.instance import Instance
from runledger.model.keys import JobKey
from runledger.model.ownership import (
    Claim,
    Proof,
    Ruling,
    gives_way,
    is_contest,
    is_kept,
    named_owner,
    owner_after,
    rule,
)
from runledger.model.places import UNKNOWN_PLACE, Place, Scope
from runledger.model.runner import Runner
from runledger.platform import retries
from runledger.recording.decision import Decision
from runledger.runners.job_updates import JobUpdates, Record
from runledger.runners.machine_messages import ALL_KINDS, description
from runledger.tables.runners import RunnersTable


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerTracker:
    """`runner_tags` are the tags of runners. If it is empty, the tags of well-known launchers count.

    `undo_unsaved` removes what an earlier attempt wrote and a job has not saved: see `JobUpdates`.

    `scope` is where EC2 and ECS are called. A machine elsewhere is recorded as launchers report it, and is never
    considered gone.
    """

    table: RunnersTable
    record: Record
    undo_unsaved: Callable[[JobKey], None] = lambda _job: None
    scope: Scope
    runner_tags: Mapping[str, str] = field(default_factory=dict)

    def launch(self, receipt: Receipt, *, kind: str, proof: Proof, place: Place = UNKNOWN_PLACE) -> Decision:
        """A launcher has started a machine for a job. The machine may already run another job.

        Raises NotYours if the machine is proven to belong to another installation.
        """
        plan, decision = _plan(receipt), None
        assert receipt.facts.instance_id is not None
        runner_id = receipt.facts.instance_id
        while True:
            seen = self.table.get(runner_id)
            if seen is not None and not gives_way(seen, plan, proof):
                if decision is not None:
                    self.record(_release(runner_id, plan))
                contested = seen.contested(plan.since, by=plan.installation_id)
                if is_contest(seen, proof) and not self.table.save(seen, contested):
                    continue
                self._jobs.undo_unsaved_of_jobs(seen, plan.job)
                raise NotYours(f"runner {runner_id} doesn't belong to installation {plan.installation_id}")
            decision = decision or self.record(receipt)
            before = seen or Runner(runner_id=runner_id, created_at=plan.since)
            after = before.reported_in(place).with_values(kind=kind, **owner_after(before, plan, proof)).assigned(plan)
            if self.table.save(seen, after):
                break
        self._jobs.update_after_assignment(after, plan.job, news=True)
        self._jobs.undo_unsaved_of_jobs(after, plan.job)
        return decision

    def claim(self, fact: Assignment, runner_id: str, machine: Instance | None, *, kind: str, at: str) -> Ruling:
        """GitHub reports that a job runs on the machine. This is recorded if the ruling on the owner allows it."""
        claim = Claim(installation_id=fact.installation_id, repo_full_name=fact.repo_full_name, job_id=fact.job_id)
        tags = machine.tags if machine else None
        recorded = news = False
        while True:
            seen = self.table.get(runner_id)
            ruling = rule(claim, seen, tags, runner_tags=self.runner_tags)
            after = before = seen or Runner(runner_id=runner_id, created_at=fact.since)
            if ruling in (Ruling.ASSIGN, Ruling.DESCRIBE):
                after = before.with_values(kind=before.kind or kind)
                if ruling is Ruling.ASSIGN:
                    after = after.confirmed(at, machine.place) if machine else after
                    after = after.with_values(**_claimant(before, claim, named_owner(tags) if tags else None))
                after = after.assigned(fact)
                if (receipt := description(after, fact.job, at=at)) is not None:
                    news |= self.record(receipt).is_news
                    recorded = True
            else:
                if recorded:
                    self.record(_release(runner_id, fact))
                    recorded = False
                if ruling is Ruling.CONTEST:
                    after = before.contested(at, by=claim.installation_id)
                elif is_kept(claim, seen, tags):
                    after = before.claimed(fact)
            if after is before or self.table.save(seen, after):
                break
        if recorded:
            self._jobs.update_after_assignment(after, fact.job, news=news)
        self._jobs.undo_unsaved_of_jobs(after, fact.job)
        return ruling

    def record_start(self, runner_id: str, *, at: str, place: Place) -> None:
        self._record_occurrence(runner_id, Occurrence(at, OccurrenceKind.STARTED), place)

    def record_reported_start(self, runner_id: str, *, installation_id: int, at: str) -> None:
        """A launcher's report. Raises NotYours if the machine is proven to belong to another installation."""
        report = Occurrence(at, OccurrenceKind.ATTACHMENT_REPORTED, str(installation_id))
        self._report(runner_id, report, installation_id=installation_id)

    def record_reported_end(
        self, runner_id: str, machine: Instance | None, *, installation_id: int, at: str, reason: str | None
    ) -> None:
        """A launcher's report. The machine counts as terminated only if it is the launcher's and EC2 or ECS confirms
        it.

        A report about a machine without an owner is kept until the machine has one. Otherwise it could end another
        owner's machine.
        """
        report = Occurrence(at, OccurrenceKind.END_REPORTED, str(installation_id))
        runner = self._report(runner_id, report, installation_id=installation_id)
        is_own = runner.installation_id == installation_id
        if is_own and (machine.is_gone if machine else self.is_confirmed_in_scope(runner)):
            self.record_end(runner_id, at=at, place=machine.place if machine else runner.place, reason=reason)

    def record_rebalance(self, runner_id: str, *, at: str, place: Place) -> None:
        self._record_occurrence(runner_id, Occurrence(at, OccurrenceKind.REBALANCE_RECOMMENDED), place)

    def record_warning(self, runner_id: str, *, at: str, place: Place) -> None:
        self._record_occurrence(runner_id, Occurrence(at, OccurrenceKind.WARNED), place)

    def record_end(self, runner_id: str, *, at: str, place: Place, reason: str | None = None) -> None:
        self._record_occurrence(runner_id, Occurrence(at, OccurrenceKind.ENDED, reason or ""), place)

    def is_confirmed_in_scope(self, runner: Runner) -> bool:
        """EC2 or ECS has confirmed the machine, and its place is in scope. So if they don't find it now, it is gone."""
        return runner.confirmed_at is not None and self.scope.covers(runner.place)

    def record_cleaned(self, runner_id: str, *, at: str, reason: str) -> None:
        """A pass has found the end. The jobs are updated first, because no later pass checks a cleaned runner."""
        end = Occurrence(at, OccurrenceKind.ENDED, reason)
        runner = self.table.change(runner_id, at=at, change=lambda each: each.ending(end))
        self._jobs.update_after_occurrence(runner, end)
        self.table.change(runner_id, at=at, change=lambda each: each.cleaned() if each.terminated_at else each)

    def resume_cleanup(self, ending: Runner) -> None:
        """An earlier pass found this end, and failed before all jobs were updated.

        It may have written events that no job has saved, because an earlier end that was reported in the meantime
        replaces this one.
        """
        assert ending.terminated_at is not None
        with retries.another_attempt():
            self.record_cleaned(ending.runner_id, at=ending.terminated_at, reason=ending.terminated_reason or "")

    def record_confirmed(self, machine: Instance, *, at: str) -> None:
        """EC2 or ECS describes the machine."""
        self.table.change(machine.runner_id, at=at, change=lambda runner: runner.confirmed(at, machine.place))

    def prove(self, runner_id: str, *, installation_id: int, owner_name: str | None, at: str) -> None:
        """A tag names the owner. The claims of that installation take effect. An existing owner is kept."""
        proven = {"installation_id": installation_id, "owner_name": owner_name, "proven_by": Proof.TAG}
        after = self.table.change(
            runner_id,
            at=at,
            change=lambda runner: (
                runner.with_values(**proven) if runner.installation_id is None and not runner.contested_at else runner
            ),
        )
        claimants = [each.job for each in after.claims if each.installation_id == installation_id]
        after = self._jobs.describe(after, claimants)
        for job in claimants:
            self._jobs.update(after, job, ALL_KINDS)

    def _record_occurrence(self, runner_id: str, occurrence: Occurrence, place: Place) -> None:
        """Records what EC2 or ECS reports."""
        at = occurrence.at
        ending: Runner | None = None

        def change(seen: Runner) -> Runner:
            nonlocal ending
            after = seen.confirmed(at, place).after(occurrence)
            ending = seen if seen.is_ending and not after.is_ending else None
            return after

        runner = self.table.change(runner_id, at=at, change=change)
        self._jobs.update_after_occurrence(runner, occurrence)
        if ending is not None:
            # The machine has started again, so no pass resumes the cleanup.
            assert ending.terminated_at is not None
            end = Occurrence(ending.terminated_at, OccurrenceKind.ENDED, ending.terminated_reason or "")
            with retries.another_attempt():
                self._jobs.update_after_occurrence(runner, end)

    def _report(self, runner_id: str, occurrence: Occurrence, *, installation_id: int) -> Runner:
        def reported(runner: Runner) -> Runner:
            if runner.installation_id not in (None, installation_id) or runner.contested_at:
                raise NotYours(f"runner {runner_id} doesn't belong to installation {installation_id}")
            return runner.after(occurrence)

        runner = self.table.change(runner_id, at=occurrence.at, change=reported)
        self._jobs.update_after_occurrence(runner, occurrence)
        return runner

    @property
    def _jobs(self) -> JobUpdates:
        return JobUpdates(table=self.table, record=self.record, undo_unsaved=self.undo_unsaved)


def _plan(receipt: Receipt) -> Assignment:
    facts = receipt.facts
    assert facts.scheduled_at is not None
    return Assignment(
        installation_id=receipt.installation_id,
        job_id=receipt.job_id,
        since=facts.scheduled_at,
        is_plan=True,
        repo_full_name=facts.repo_full_name,
        machine=MachineFacts.planned(facts),
    )


def _claimant(runner: Runner, claim: Claim, owner_name: str | None) -> dict[str, object]:
    """The owner after an accepted claim. A tag that names the owner is proof, and ends a contest."""
    owner: dict[str, object] = {"installation_id": claim.installation_id}
    if owner_name:
        owner["owner_name"] = owner_name
        if runner.proven_by != Proof.EVENT:
            owner["proven_by"] = Proof.TAG
        if runner.proven_by in (None, Proof.SCOPED_EVENT):
            owner |= {"contested_at": None, "contested_by": None}
    return owner


def _release(runner_id: str, assignment: Assignment) -> Receipt:
    """The machine proved to be another owner's after the job had recorded it."""
    return Receipt(
        installation_id=assignment.installation_id,
        job_id=assignment.job_id,
        delivery_id=f"{runner_id} is not for {assignment.job_id}",
        received_at=assignment.since,
        event_type=EventType.RUNNER_TAKEN,
        source=Source.INTERNAL,
        releases=runner_id,
        facts=Facts(instance_id=runner_id),
    )
