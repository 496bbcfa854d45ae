"""The projection of a job in the index `by_completion`: the attributes that statistics need."""

from decimal import Decimal

from runledger.model.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedJob:
    """`started_at` is set for jobs that ran. `dollars` and `saved` are unknown without a price."""

    job_id: int
    created_at: str
    completed_at: str
    conclusion: str | None = None
    started_at: str | None = None
    repo_full_name: str | None = None
    workflow_name: str | None = None
    job_name: str | None = None
    pool_name: str | None = None
    instance_type: str | None = None
    lifecycle: str | None = None
    seconds: int = 0
    dollars: Decimal | None = None
    saved: Decimal | None = None
    queue_ms: int | None = None
    interrupted: bool = False
