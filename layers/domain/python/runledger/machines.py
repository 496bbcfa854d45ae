"""What the ledger keeps of a machine that is, or may be, a runner. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class RunnerStatus(StrEnum):
    """In order of precedence."""

    ACTIVE = "active"
    CLEANING = "cleaning"
    CLEANED = "cleaned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """`job_id` works on it; `intended_job_id` is the job that it was launched for. Without either, it may not be ours.

    `installation_id`, `repo_full_name` and `job_id` change together or not at all: see `ownership`.
    """

    runner_id: str
    status: RunnerStatus
    created_at: str
    kind: str | None = None
    installation_id: int | None = None
    job_id: int | None = None
    intended_job_id: int | None = None
    repo_full_name: str | None = None
    proven_by: str | None = None
    owner_name: str | None = None  # as a launcher's tag names it
    contested_at: str | None = None
    contested_by: int | None = None
    confirmed_at: str | None = None  # EC2 or ECS of this account and region has reported the machine itself
    pool_name: str | None = None
    taken_at: str | None = None
    attached_at: str | None = None
    rebalance_recommended_at: str | None = None
    interrupted_at: str | None = None
    terminated_at: str | None = None
    terminated_reason: str | None = None
    termination_reported_at: str | None = None  # by a launcher; EC2 and ECS have not confirmed it
    suspected_at: str | None = None
    suspected_reason: str | None = None
    cleaning_owner: str | None = None
    cleaning_since: str | None = None
