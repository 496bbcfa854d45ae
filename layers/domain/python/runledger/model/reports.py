"""Reports about runs, deployments, reviews and installations.

Inputs of a job depend on each other. Reports don't: each is one conditional write that can be repeated, in any order,
so a report needs no token and no version. The exception is a review: it is stored at its gate, and then recorded on
each job there, as a receipt.
"""

import hashlib
from enum import StrEnum

from runledger.model.dataclass import dataclass
from runledger.model.inputs import Receipt
from runledger.model.keys import DeploymentKey, RunKey

WEBHOOK_PATH = "/webhooks/github"
REDELIVERY_DAYS = 3  # how long GitHub keeps a failed delivery for redelivery
NO_INSTALLATION = 0  # an App's webhooks contain its installation, webhooks of a repository or organisation don't
REVIEW_ID_LENGTH = 8
LONGEST_JOB_NAME = 100  # as stored at a gate
RUN_NAMES = ("workflow_name", "head_sha", "head_branch")  # of a run; its jobs and its own reports contain them


class RunStatus(StrEnum):
    """In order of precedence: a completed run never returns to another status."""

    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class Approval(StrEnum):
    """PENDING never replaces a decision. Of two reviews, the first counts: see `gates.precedence`.

    Without a review, the decision is inferred from the deployment's states, and the later in this order counts.
    """

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"


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
    workflow_id: int | None = None
    workflow_name: str | None = None
    head_sha: str | None = None
    head_branch: str | None = None
    run_html_url: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    run_number: int | None = None
    event: str | None = None  # what triggered it: push, schedule, …
    actor: str | None = None
    default_branch: str | None = None  # of the repository, when the run was reported
    from_fork: bool | None = None  # absent unless it is true
    head_committed_at: str | None = None

    @property
    def run_key(self) -> RunKey:
        return RunKey(self.installation_id, self.run_id, self.run_attempt)


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
    reviewed_at: str | None = None  # by a person
    decided_at: str | None = None  # when the state that shows the decision was created; used if no review was reported
    job_id: int | None = None
    job_created_at: str | None = None  # used until `created_at` is reported
    head_sha: str | None = None
    ref: str | None = None
    creator: str | None = None
    run_id: int | None = None
    is_production: bool | None = None
    version: str | None = None
    # When the deployment was last in that state.
    succeeded_at: str | None = None
    failed_at: str | None = None
    inactive_at: str | None = None

    @property
    def key(self) -> DeploymentKey:
        return DeploymentKey(self.installation_id, self.deployment_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateJob:
    """A job that waits, or has waited, for the approval of an environment, with its own deployment."""

    job_id: int
    deployment_id: int
    created_at: str
    job_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A requested approval, or a decision, for an environment of a run. A decision contains no job."""

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
    job_name: str | None = None  # of the job that needs the approval
    jobs: tuple[GateJob, ...] | None = None  # if a review for many jobs is split into parts

    @property
    def run_key(self) -> RunKey:
        return RunKey(self.installation_id, self.run_id, self.run_attempt)

    @property
    def body_id(self) -> str:
        """The same for every delivery of a review."""
        return (self.body_digest or hashlib.sha256(self.delivery_id.encode()).hexdigest())[:REVIEW_ID_LENGTH]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A job with a known deployment waits, or has waited, for the approval of an environment."""

    installation_id: int
    run_id: int
    run_attempt: int
    environment: str
    job: GateJob
    repo_full_name: str
    at: str

    @property
    def run_key(self) -> RunKey:
        return RunKey(self.installation_id, self.run_id, self.run_attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationReport:
    installation_id: int
    status: InstallationStatus
    changed_at: str
    reported_at: str
    org_name: str | None = None
    repository_selection: str | None = None


Report = RunReport | DeploymentReport | Review | InstallationReport
Input = Receipt | Report
