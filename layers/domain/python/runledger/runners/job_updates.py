"""Records on jobs what happened to their machine, after the runner has changed."""

from collections.abc import Callable, Iterable

from runledger.model.assignments import Assignment, Occurrence, OccurrenceKind
from runledger.model.dataclass import dataclass
from runledger.model.inputs import Receipt
from runledger.model.job import Job
from runledger.model.keys import JobKey
from runledger.model.runner import Runner
from runledger.recording.decision import Decision
from runledger.runners.machine_messages import (
    ALL_KINDS,
    description,
    is_described_by,
    jobs_to_describe_again,
    messages,
    placements,
)
from runledger.tables.runners import RunnersTable

Record = Callable[[Receipt], Decision]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobUpdates:
    """`undo_unsaved` removes what an earlier attempt wrote about a job and the job has not saved. It does nothing in a
    first attempt.
    """

    table: RunnersTable
    record: Record
    undo_unsaved: Callable[[JobKey], None]

    def update_after_occurrence(self, runner: Runner, occurrence: Occurrence) -> None:
        """A start may show that an end belongs to a new life: then the jobs of that life get all messages.

        A late start or end may also show that two jobs ran in different lives: then neither took the other's machine.
        """
        kinds = ALL_KINDS if occurrence.kind is OccurrenceKind.STARTED else frozenset({occurrence.kind})
        runner = self.describe(runner, jobs_to_describe_again(runner, occurrence))
        splits = occurrence.kind in (OccurrenceKind.STARTED, OccurrenceKind.ENDED)
        is_late = any(each.since >= occurrence.at for each in runner.effective_assignments)
        for job, placement in placements(runner).items():
            if placement.life.spans(occurrence.at):
                self.update(runner, job, kinds)
            elif splits and is_late:
                self.update(runner, job, frozenset())
        self.undo_unsaved_of_jobs(runner)

    def update_after_assignment(self, runner: Runner, job: JobKey, *, news: bool) -> None:
        """The job gets all messages.

        Other jobs in the same life lose the machine to it, or share its launcher's facts.
        """
        placed = placements(runner)
        life = placed[job].life if job in placed else None
        beside = [each for each in placed if each != job and placed[each].life == life]
        described = [each for each in beside if is_described_by(runner, each, job)]
        runner = self.describe(runner, [job, *described] if news else described)
        for each in beside:
            self.update(runner, each, ALL_KINDS if each in described else frozenset())
        self.update(runner, job, ALL_KINDS)

    def undo_unsaved_of_jobs(self, runner: Runner, *jobs: JobKey) -> None:
        """Call this at the end of each input about the machine.

        Jobs that got no message this time are included: an earlier attempt may have written events for them.
        """
        for job in dict.fromkeys((*jobs, *(each.job for each in (*runner.assignments, *runner.claims)))):
            self.undo_unsaved(job)

    def describe(self, runner: Runner, jobs: Iterable[JobKey]) -> Runner:
        """Describes the machine to jobs that run on it. Reads the runner again, which may have changed in between."""
        jobs, stale = list(jobs), True
        while stale:
            receipts = [receipt for job in jobs if (receipt := description(runner, job)) is not None]
            recorded = [self.record(receipt) for receipt in receipts]
            stale = any(decision.is_news for decision in recorded)
            if stale:
                runner = self.table.get(runner.runner_id) or runner
        return runner

    def update(self, runner: Runner, job: JobKey, kinds: frozenset[OccurrenceKind]) -> None:
        for receipt in messages(runner, job, kinds):
            recorded = self.record(receipt).job
            if receipt.releases and recorded.runs_on(runner.runner_id):
                self._keep(runner.runner_id, recorded)

    def _keep(self, runner_id: str, job: Job) -> None:
        """Another job ran on the machine, but GitHub names it for this job too. So the plan becomes a fact."""
        assert job.started_at is not None
        fact = Assignment(
            installation_id=job.installation_id,
            job_id=job.job_id,
            since=job.started_at,
            is_plan=False,
            repo_full_name=job.repo_full_name,
        )
        after = self.table.change(runner_id, at=fact.since, change=lambda runner: runner.assigned(fact))
        # Its assignment may be too old to be kept.
        if any(each.job == fact.job and not each.is_plan for each in after.assignments):
            self.update_after_assignment(after, fact.job, news=True)
