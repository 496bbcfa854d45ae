"""The projection of a job in the index `by_repo`: the attributes that statistics need."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLine:
    """`queue_ms` is set for jobs that ran, `saved` for those on spot."""

    job_id: int
    created_at: str
    workflow_name: str | None = None
    job_name: str | None = None
    conclusion: str | None = None
    seconds: int = 0
    dollars: Decimal | None = None
    saved: Decimal | None = None
    queue_ms: int | None = None
    interrupted: bool = False
