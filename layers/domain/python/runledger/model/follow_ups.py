"""Tasks that follow from an input and wait in a queue. Pure."""

from runledger.model.dataclass import dataclass
from runledger.model.keys import RunKey


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerLookup:
    """A job runs on a runner that isn't assigned to it in the ledger."""

    installation_id: int
    job_id: int
    runner_id: str  # for ECS the task's id; ECS returns its ARN
    kind: str
    repo_full_name: str | None
    at: str
    started_at: str | None = None  # when the job started on this runner


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunCheck:
    """A run has finished, and its failed jobs may have to be re-run."""

    installation_id: int
    repo_full_name: str
    run_id: int
    run_attempt: int

    @property
    def run_key(self) -> RunKey:
        return RunKey(self.installation_id, self.run_id, self.run_attempt)
