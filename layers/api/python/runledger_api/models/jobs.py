"""Jobs and their history. The field names are those of the tables."""

from typing import Any, NotRequired

from typing_extensions import TypedDict


class Job(TypedDict):
    """The current state of a job. Unknown fields are omitted."""

    installation_id: int
    job_id: int
    status: str
    created_at: str
    received_at: str
    last_updated_at: str
    was_interrupted: bool
    run_id: NotRequired[int]
    run_attempt: NotRequired[int]
    org_name: NotRequired[str]
    repo_full_name: NotRequired[str]
    repo_is_private: NotRequired[bool]
    workflow_id: NotRequired[int]
    workflow_name: NotRequired[str]
    job_name: NotRequired[str]
    head_sha: NotRequired[str]
    head_branch: NotRequired[str]
    default_branch: NotRequired[str]
    job_html_url: NotRequired[str]
    github_run_url: NotRequired[str]
    labels: NotRequired[list[str]]
    custom_properties: NotRequired[dict[str, Any]]
    deployment_id: NotRequired[int]
    environment: NotRequired[str]
    approval_requested_at: NotRequired[str]
    approved_at: NotRequired[str]
    rejected_at: NotRequired[str]
    carried_over: NotRequired[bool]
    scheduled_at: NotRequired[str]
    started_at: NotRequired[str]
    completed_at: NotRequired[str]
    completed_at_is_guessed: NotRequired[bool]
    conclusion: NotRequired[str]
    runner_id: NotRequired[int]
    runner_name: NotRequired[str]
    runner_group_id: NotRequired[int]
    instance_id: NotRequired[str]
    instance_type: NotRequired[str]
    instance_lifecycle: NotRequired[str]
    fleet_id: NotRequired[str]
    pool_name: NotRequired[str]
    price_per_hour: NotRequired[float]
    on_demand_price_per_hour: NotRequired[float]
    interrupted_at: NotRequired[str]
    terminated_at: NotRequired[str]
    runner_requests: NotRequired[int]
    runner_requested_at: NotRequired[str]
    usage_in_seconds: NotRequired[int]
    usage_in_dollars: NotRequired[float]
    saved_in_dollars: NotRequired[float]
    overall_queue_duration_in_ms: NotRequired[int]
    internal_queue_duration_in_ms: NotRequired[int]


class JobList(TypedDict):
    items: list[Job]
    next_cursor: str | None


class Event(TypedDict):
    """One event in a job's history. `changes` has the old and new value of each field that the event changed."""

    installation_id: int
    job_id: int
    timestamp: str
    event_type: str
    status: str
    source: str
    delivery_id: str
    action: NotRequired[str]
    changes: NotRequired[dict[str, Any]]
    duplicate: NotRequired[bool]
    received_by: NotRequired[str]


class EventList(TypedDict):
    items: list[Event]
    next_cursor: str | None


class NewEvents(TypedDict):
    """Pass `next_since` as `since` of the next call: no event is returned twice."""

    items: list[Event]
    next_since: str


class StuckJob(TypedDict):
    kind: str
    since: str
    seconds: int
    advice: str
    job: Job


class StuckJobs(TypedDict):
    items: list[StuckJob]
    next_cursor: None
    truncated: bool


class Counts(TypedDict):
    queued: int
    waiting: int
    scheduled: int
    in_progress: int
    completed_24h: NotRequired[int]
