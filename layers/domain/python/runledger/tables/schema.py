"""Keys, indexes and projections of every table: the one place that the stacks and the table code both read."""

from dataclasses import dataclass

PARTITION = "PK"
SORT = "SK"
EXPIRY = "ttl"
ONLY = "v"  # the sort key of items that stand alone under their partition key
PASSES = "passes"  # the partition of the reconciler's passes in runners


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """An index repeats each write of what it projects, so it projects keys, or what is written once."""

    name: str
    partition: str
    sort: str
    include: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    name: str
    retention_days: int
    indexes: tuple[Index, ...] = ()


BY_STATUS = Index(name="by_status", partition="by_status", sort="created_at")
BY_REPO = Index(
    name="by_repo",
    partition="by_repo",
    sort="created_at",
    # Names never change and the rest is written at completion (or when a runner is interrupted, which is rare): one
    # more write in a life, and statistics need no jobs.
    include=(
        "workflow_name",
        "job_name",
        "conclusion",
        "usage_in_seconds",
        "usage_in_dollars",
        "saved_in_dollars",
        "was_interrupted",
        "overall_queue_duration_in_ms",
    ),
)
BY_RUN = Index(name="by_run", partition="by_run", sort="created_at")
# Of a run: open or done, so that those which GitHub must be asked about are found. Two words, so two writes a run.
BY_STATE = Index(name="by_state", partition="by_state", sort="created_at")
RUNNERS_BY_STATUS = Index(name="by_status", partition="status", sort="created_at")

WORKFLOW_JOBS = Table(name="workflow_jobs", retention_days=90, indexes=(BY_STATUS, BY_REPO, BY_RUN))
WORKFLOW_JOB_EVENTS = Table(name="workflow_job_events", retention_days=14)
WORKFLOW_RUNS = Table(name="workflow_runs", retention_days=90, indexes=(BY_STATE,))
DEPLOYMENTS = Table(name="deployments", retention_days=90)
RUNNERS = Table(name="runners", retention_days=14, indexes=(RUNNERS_BY_STATUS,))

TABLES = (WORKFLOW_JOBS, WORKFLOW_JOB_EVENTS, WORKFLOW_RUNS, DEPLOYMENTS, RUNNERS)
