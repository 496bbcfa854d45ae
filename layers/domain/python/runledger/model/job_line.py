"""A job as the index `by_repo` holds it: what statistics need, and no more."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLine:
    """A job as the index by repository knows it. `queue_ms` is known of jobs that ran, `saved` of those on spot."""

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
