"""After which failures the failed jobs of a run are re-run, and the results of re-run checks. Pure."""

from enum import StrEnum

from runledger.model.dataclass import dataclass


class RerunPolicy(StrEnum):
    """After which failures the failed jobs of a run are re-run."""

    NEVER = "never"
    INTERRUPTED = "interrupted"  # every failed job of the run was interrupted
    ANY_FAILURE = "any_failure"  # for any reason, unless a job of the run is behind an environment


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
