"""Keys, indexes and projections of every table. The stacks and the table code both read them here."""

from dataclasses import dataclass

PARTITION = "PK"
SORT = "SK"
EXPIRY = "ttl"
ONLY = "v"  # the sort key of items that stand alone under their partition key
PASSES = "passes"  # the partition of the reconciler's passes in runners


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """Each write of a projected attribute is repeated in the index, so project keys, or what is written once."""

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
    # more write for each job, and statistics read the index alone.
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
# Of a run: open or done, so that the reconciler finds open runs. Two values, so two writes for each run.
BY_STATE = Index(name="by_state", partition="by_state", sort="created_at")
RUNNERS_BY_STATUS = Index(name="by_status", partition="status", sort="created_at")

WORKFLOW_JOBS = Table(name="workflow_jobs", retention_days=90, indexes=(BY_STATUS, BY_REPO, BY_RUN))
WORKFLOW_JOB_EVENTS = Table(name="workflow_job_events", retention_days=14)
WORKFLOW_RUNS = Table(name="workflow_runs", retention_days=90, indexes=(BY_STATE,))
DEPLOYMENTS = Table(name="deployments", retention_days=90)
RUNNERS = Table(name="runners", retention_days=14, indexes=(RUNNERS_BY_STATUS,))

TABLES = (WORKFLOW_JOBS, WORKFLOW_JOB_EVENTS, WORKFLOW_RUNS, DEPLOYMENTS, RUNNERS)


def job_key(installation_id: int, job_id: int) -> str:
    """The partition of a job, and of its history."""
    return f"{installation_id}#{job_id}"


def run_key(installation_id: int, run_id: int, run_attempt: int) -> str:
    """The partition of an attempt of a run, of its gates, and of its jobs in BY_RUN."""
    return f"{installation_id}#{run_id}#{run_attempt}"


def deployment_key(installation_id: int, deployment_id: int) -> str:
    return f"{installation_id}#{deployment_id}"


def status_key(installation_id: int, status: str) -> str:
    """The partition of jobs in BY_STATUS, and of runs in BY_STATE."""
    return f"{installation_id}#{status}"


def repo_key(installation_id: int, repo_full_name: str) -> str:
    """The partition of jobs in BY_REPO."""
    return f"{installation_id}#{repo_full_name}"
