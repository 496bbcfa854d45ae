"""What is said about everything that is not a job: runs, deployments, reviews, installations.

A job's inputs depend on one another and are decided one by one. These do not: each is one guarded write of its own,
which may be done again and in any order, so a report needs no token and no version.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

WEBHOOK_PATH = "/webhooks/github"
NO_INSTALLATION = 0  # webhooks of a repository or organisation, rather than of an App, name no installation
REVIEW_ID_LENGTH = 8
LONGEST_JOB_NAME = 100  # at a gate
RUN_NAMES = ("workflow_name", "head_sha", "head_branch")  # of a run, as its jobs and its own reports give them


class RunStatus(StrEnum):
    """In order of precedence: a completed run is never taken back."""

    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class Approval(StrEnum):
    """In order of precedence: a rejection is final, and only a pending deployment waits for anybody."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"


class RunnerKind(StrEnum):
    """What a runner is, for AWS."""

    EC2 = "ec2"
    ECS = "ecs"


class AwsEvent(StrEnum):
    """What EC2 and ECS publish on the default bus, by its detail-type."""

    WARNING = "EC2 Spot Instance Interruption Warning"
    REBALANCE = "EC2 Instance Rebalance Recommendation"
    INSTANCE_STATE = "EC2 Instance State-change Notification"
    TASK_STATE = "ECS Task State Change"


# States of an instance that is about to end or has ended, and why spot stops a task.
GOING = {"stopping", "stopped", "shutting-down", "terminated"}
SPOT_INTERRUPTION = "SpotInterruption"


class InstallationStatus(StrEnum):
    ACTIVE = "active"
    SUSPENDED = "suspended"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    installation_id: int
    run_id: int
    run_attempt: int
    reported_at: str
    status: RunStatus
    repo_full_name: str
    conclusion: str | None = None
    workflow_name: str | None = None
    head_sha: str | None = None
    head_branch: str | None = None
    run_html_url: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentReport:
    installation_id: int
    deployment_id: int
    reported_at: str
    repo_full_name: str
    environment: str | None = None
    created_at: str | None = None
    status: Approval | None = None
    requires_approval: bool | None = None
    reviewed_at: str | None = None
    job_id: int | None = None
    job_created_at: str | None = None  # stands in for `created_at` until that is reported


@dataclass(frozen=True, slots=True, kw_only=True)
class GateJob:
    """A job that waits, or has waited, at an environment of its run, with its own deployment."""

    job_id: int
    deployment_id: int
    created_at: str
    job_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A request for an approval, or a decision, about an environment of a run. A decision names no job."""

    installation_id: int
    run_id: int
    run_attempt: int
    environment: str
    status: Approval
    reviewed_at: str
    repo_full_name: str
    delivery_id: str
    reported_at: str
    body_digest: str | None = None
    job_name: str | None = None  # of the job that a request is for
    jobs: tuple[str, ...] | None = None  # one part of a review that reaches many jobs; as the gate stores them

    @property
    def body_id(self) -> str:
        """The same for every delivery of a review."""
        return (self.body_digest or hashlib.sha256(self.delivery_id.encode()).hexdigest())[:REVIEW_ID_LENGTH]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A job whose deployment is known waits, or has waited, at an environment of its run."""

    installation_id: int
    run_id: int
    run_attempt: int
    environment: str
    job: GateJob
    repo_full_name: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationReport:
    installation_id: int
    status: InstallationStatus
    changed_at: str
    reported_at: str
    org_name: str | None = None
    repository_selection: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerLookup:
    """A job runs on a runner of which the ledger does not know that it is this job's."""

    installation_id: int
    job_id: int
    runner_id: str  # of ECS only the task's id: its ARN is for ECS to tell
    kind: str
    repo_full_name: str | None
    at: str
    started_at: str | None = None  # since when the job runs there


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunCheck:
    """A run is over and some of its jobs were cut short."""

    installation_id: int
    repo_full_name: str
    run_id: int
    run_attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What must be known of a runner to know what it costs."""

    instance_type: str | None
    instance_lifecycle: str | None
    availability_zone: str | None
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Without `trouble`, a price that is absent is not published. With it, AWS could not be asked: try again later."""

    per_hour: Decimal | None = None
    on_demand_per_hour: Decimal | None = None
    trouble: str | None = None


FindPrice = Callable[[Wanted], Price]


Report = RunReport | DeploymentReport | Review | InstallationReport
