"""Runs, deployments and approvals."""

from typing import NotRequired

from typing_extensions import TypedDict

from runledger_api.models.jobs import Job


class Run(TypedDict):
    installation_id: int
    run_id: int
    run_attempt: int
    status: str
    repo_full_name: NotRequired[str]
    workflow_id: NotRequired[int]
    workflow_name: NotRequired[str]
    head_sha: NotRequired[str]
    head_branch: NotRequired[str]
    head_committed_at: NotRequired[str]
    default_branch: NotRequired[str]
    from_fork: NotRequired[bool]
    run_number: NotRequired[int]
    event: NotRequired[str]
    actor: NotRequired[str]
    run_html_url: NotRequired[str]
    conclusion: NotRequired[str]
    created_at: NotRequired[str]
    updated_at: NotRequired[str]
    checked_at: NotRequired[str]
    total_jobs: NotRequired[int]
    completed_jobs: NotRequired[int]
    failed_jobs: NotRequired[int]
    rerun_result: NotRequired[str]


class RunWithJobs(TypedDict):
    run: Run
    jobs: list[Job]
    attempts: list[int]


class Found(TypedDict):
    """The job or run that a URL identifies."""

    installation_id: int
    run_id: int | None
    run_attempt: NotRequired[int]
    job_id: NotRequired[int]
    job: NotRequired[Job]
    run: NotRequired[Run]


class Deployment(TypedDict):
    installation_id: int
    deployment_id: int
    status: str
    repo_full_name: NotRequired[str]
    environment: NotRequired[str]
    is_production: NotRequired[bool]
    head_sha: NotRequired[str]
    ref: NotRequired[str]
    version: NotRequired[str]
    creator: NotRequired[str]
    run_id: NotRequired[int]
    requires_approval: NotRequired[bool]
    created_at: NotRequired[str]
    approved_at: NotRequired[str]
    rejected_at: NotRequired[str]
    succeeded_at: NotRequired[str]
    failed_at: NotRequired[str]
    inactive_at: NotRequired[str]
    checked_at: NotRequired[str]
    job_ids: NotRequired[list[int]]


class WaitingApproval(TypedDict):
    repo_full_name: str | None
    environment: str | None
    deployment_id: int | None
    run_id: int | None
    run_attempt: int | None
    waiting_since: str
    run_html_url: str | None
    job_ids: list[int]
    forgotten: bool


class WaitingApprovals(TypedDict):
    items: list[WaitingApproval]
    next_cursor: None


class RerunRequest(TypedDict, total=False):
    """`run_attempt` makes the request fail if a newer attempt exists."""

    run_attempt: int | None


class RerunRequested(TypedDict):
    installation_id: int
    run_id: int
    run_attempt: int
