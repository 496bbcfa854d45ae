"""Runs: the status that follows from their jobs, and after which failures they are re-run. Pure."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.inputs import Conclusion, Status
from runledger.model.job import FAILURES
from runledger.model.reports import REDELIVERY_DAYS, RunStatus

# With `any_failure`, a run that ended longer ago is not re-run: its last webhook can no longer be redelivered.
RERUN_WITHIN_MS = REDELIVERY_DAYS * times.SECONDS_PER_DAY * times.MS_PER_SECOND
WITH_FAILED_JOBS = FAILURES - {Conclusion.STARTUP_FAILURE}  # a run that could not start has no jobs
STARTED = {Status.IN_PROGRESS, Status.COMPLETED}
REPORTED_ONLY = {"updated_at", "run_html_url", "conclusion"}


def is_unreported(run: Mapping[str, Any]) -> bool:
    """Whether only jobs have reported the run."""
    return not run.keys() & REPORTED_ONLY


def with_derived_status(run: Mapping[str, Any], job_statuses: Iterable[str]) -> dict[str, Any]:
    """Derives the status of a run without its own report from its jobs.

    Done on reading: storing the status would cost a write for each step of a job.
    """
    if not is_unreported(run):
        return dict(run)
    total, completed = run.get("total_jobs", 0), run.get("completed_jobs", 0)
    if completed and completed == total:
        return {**run, "status": RunStatus.COMPLETED}
    started = completed or any(status in STARTED for status in job_statuses)
    return {**run, "status": RunStatus.IN_PROGRESS if started else run["status"]}


class RerunPolicy(StrEnum):
    """After which failures the failed jobs of a run are re-run."""

    NEVER = "never"
    INTERRUPTED = "interrupted"  # every failed job of the run was interrupted
    ANY_FAILURE = "any_failure"  # for any reason, unless a job of the run is behind an environment


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChange:
    """The state of a run after a change.

    A report may be about a run that `ended_long_ago`: a launcher's event can name any run, and the reconciler then
    looks it up. The ledger may not have the environments of such a run, so `any_failure` doesn't apply to it.
    """

    has_ended: bool
    has_failed: bool
    has_interrupted_jobs: bool
    ended_long_ago: bool = False

    @classmethod
    def of(cls, run: Mapping[str, Any], *, reported_at: str | None = None) -> "RunChange":
        """`run` is the stored item after the change, and `reported_at` is the time of the report, if one changed it."""
        ended_at, is_old = run.get("updated_at"), False
        if reported_at is not None and ended_at is not None:
            is_old = times.ms_between(ended_at, reported_at) > RERUN_WITHIN_MS
        return cls(
            has_ended=run.get("status") == RunStatus.COMPLETED,
            has_failed=run.get("conclusion") in WITH_FAILED_JOBS,
            has_interrupted_jobs="cut_short_job_ids" in run,
            ended_long_ago=is_old,
        )

    def may_be_rerun(self, policy: RerunPolicy) -> bool:
        failed = policy is RerunPolicy.ANY_FAILURE and self.has_failed and not self.ended_long_ago
        interrupted = policy is not RerunPolicy.NEVER and self.has_interrupted_jobs
        return self.has_ended and (failed or interrupted)


class RerunOutcome(StrEnum):
    """Outcomes of a claimed run are stored in `rerun_result` and shown to users. All are logged."""

    REQUESTED = "requested"
    REFUSED = "refused"  # by GitHub
    CANCELLED = "the run was cancelled"
    OWN_FAILURE = "failed for its own reason"
    IN_PROGRESS = "being considered"  # by another process, which checks for new jobs before it releases the claim
    LIMIT_REACHED = "the limit of re-runs is reached"
    NO_APP = "no GitHub App"
    SWITCHED_OFF = "switched off"
    BEHIND_AN_ENVIRONMENT = "a job of the run is behind an environment"
    NO_FAILED_JOBS = "no job failed"


@dataclass(frozen=True, slots=True)
class RerunResult:
    """`reason` is GitHub's, if it refused the request."""

    outcome: RerunOutcome
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.outcome}: {self.reason}" if self.reason else str(self.outcome)

    @classmethod
    def parse(cls, text: str) -> "RerunResult":
        """A text from another release counts as a refusal: the run has a result, and no re-run was requested."""
        outcome, _, reason = text.partition(": ")
        if outcome not in list(RerunOutcome):
            return cls(RerunOutcome.REFUSED, text)
        return cls(RerunOutcome(outcome), reason)
