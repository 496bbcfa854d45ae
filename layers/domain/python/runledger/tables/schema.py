"""Keys, indexes and projections of every table. The stacks and the table code both read them here."""

from runledger.model.dataclass import dataclass
from runledger.model.keys import DeploymentKey, RunKey

PARTITION = "PK"
SORT = "SK"
EXPIRY = "ttl"
ONLY = "v"  # the sort key of items that stand alone under their partition key
PASSES = "passes"  # the partition of the reconciler's passes in runners
REGISTRY = "installations"  # the partition of installations in workflow_jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """Each write of a projected attribute is repeated in the index, so project only keys and attributes that are
    written once.
    """

    name: str
    partition: str
    sort: str
    include: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSchema:
    name: str
    retention_days: int
    indexes: tuple[Index, ...] = ()


BY_STATUS = Index(name="by_status", partition="by_status", sort="created_at")
BY_REPO = Index(name="by_repo", partition="by_repo", sort="created_at")
BY_RUN = Index(name="by_run", partition="by_run", sort="created_at")
# A job is in this index once it has completed, so all projected attributes cost one write per job. Statistics read only
# this index. Jobs that a partial re-run has carried over aren't in it.
BY_COMPLETION = Index(
    name="by_completion",
    partition="by_completion",
    sort="completed_at",
    include=(
        *("repo_full_name", "workflow_name", "job_name", "conclusion", "created_at", "started_at"),
        *("pool_name", "instance_type", "instance_lifecycle", "was_interrupted"),
        *("usage_in_seconds", "usage_in_dollars", "saved_in_dollars", "overall_queue_duration_in_ms"),
    ),
)
# Runs by state, open or done, so that the reconciler finds open runs. Two values, so two writes per run.
BY_STATE = Index(name="by_state", partition="by_state", sort="created_at")
# Feed events in the order in which they were written. FEED_BY_STATUS omits events whose status is still `received`: it
# would cost a write for every event.
FEED_BY_TYPE = Index(name="by_type", partition="by_type", sort=SORT)
FEED_BY_STATUS = Index(name="by_status", partition="by_status", sort=SORT)
# Notification messages. MESSAGES_DUE, which the sweep reads, has only open messages.
MESSAGES_BY_STATUS = Index(name="by_status", partition="by_status", sort="created_at")
MESSAGES_BY_TYPE = Index(name="by_type", partition="by_type", sort="created_at")
MESSAGES_BY_CREATION = Index(name="by_creation", partition="by_creation", sort="created_at")
MESSAGES_DUE = Index(name="by_due", partition="open", sort="due_at")
RUNNERS_BY_STATUS = Index(name="by_status", partition="status", sort="created_at")

WORKFLOW_JOBS = TableSchema(
    name="workflow_jobs", retention_days=90, indexes=(BY_STATUS, BY_REPO, BY_RUN, BY_COMPLETION)
)
WORKFLOW_JOB_EVENTS = TableSchema(name="workflow_job_events", retention_days=14)
WORKFLOW_RUNS = TableSchema(name="workflow_runs", retention_days=90, indexes=(BY_STATE,))
DEPLOYMENTS = TableSchema(name="deployments", retention_days=90)
RUNNERS = TableSchema(name="runners", retention_days=14, indexes=(RUNNERS_BY_STATUS,))

FEED = TableSchema(name="feed", retention_days=30, indexes=(FEED_BY_TYPE, FEED_BY_STATUS))
NOTIFICATIONS = TableSchema(
    name="notifications",
    retention_days=90,
    indexes=(MESSAGES_BY_STATUS, MESSAGES_BY_TYPE, MESSAGES_BY_CREATION, MESSAGES_DUE),
)
RELEASES = TableSchema(name="releases", retention_days=90)

TABLES = (WORKFLOW_JOBS, WORKFLOW_JOB_EVENTS, WORKFLOW_RUNS, DEPLOYMENTS, RUNNERS)
# Tables that exist only with a setting.
OPTIONAL = (FEED, NOTIFICATIONS, RELEASES)
CONSUMERS, POSTS = "consumers", "posts"  # in the feed table
# In the notifications table.
SUBSCRIPTIONS, HEALTH, MESSAGES, DELIVERIES, HOURS = "subscriptions", "health", "messages", "deliveries", "hours"
ALL = "all"
SUBSCRIBERS = "subscribers"  # the partition of installations with subscriptions
OPEN = "open"  # the partition of MESSAGES_DUE
PAYLOAD = "payload"  # the sort key of a message's payload


def job_key(installation_id: int, job_id: int) -> str:
    """The partition of a job, and of its history."""
    return f"{installation_id}#{job_id}"


def run_key(run: RunKey) -> str:
    """The partition of an attempt of a run, of its gates, and of its jobs in BY_RUN."""
    return f"{run.installation_id}#{run.run_id}#{run.run_attempt}"


def deployment_key(deployment: DeploymentKey) -> str:
    return f"{deployment.installation_id}#{deployment.deployment_id}"


def lookups_key(installation_id: int) -> str:
    """The partition of an installation's counts of lookups in workflow_runs."""
    return f"{installation_id}#lookups"


def status_key(installation_id: int, status: str) -> str:
    """The partition of jobs in BY_STATUS, and of runs in BY_STATE."""
    return f"{installation_id}#{status}"


def repo_key(installation_id: int, repo_full_name: str) -> str:
    """The partition of jobs in BY_REPO."""
    return f"{installation_id}#{repo_full_name}"


def completion_key(installation_id: int) -> str:
    """The partition of jobs in BY_COMPLETION."""
    return str(installation_id)


def feed_key(installation_id: int) -> str:
    """The partition of an installation's events in feed."""
    return str(installation_id)


def feed_type_key(installation_id: int, event_type: str) -> str:
    """The partition of events in FEED_BY_TYPE."""
    return f"{installation_id}#{event_type}"


def feed_mark_key(installation_id: int, event_id: str) -> str:
    """The partition of the position of one event. Ids have 32 hexadecimal digits, so none equals CONSUMERS or POSTS."""
    return f"{installation_id}#{event_id}"


def feed_consumers_key(installation_id: int) -> str:
    return f"{installation_id}#{CONSUMERS}"


def posts_key(installation_id: int) -> str:
    """The partition of an installation's counts of posted events in feed, and of reported builds in releases."""
    return f"{installation_id}#{POSTS}"


def subscriptions_key(installation_id: int) -> str:
    return f"{installation_id}#{SUBSCRIPTIONS}"


def health_key(installation_id: int) -> str:
    """The partition of the health of an installation's receivers."""
    return f"{installation_id}#{HEALTH}"


def message_key(installation_id: int, message_id: str) -> str:
    """The partition of a message and its payload."""
    return f"{installation_id}#{MESSAGES}#{message_id}"


def message_type_key(installation_id: int, message_type: str) -> str:
    """The partition of messages in MESSAGES_BY_TYPE."""
    return f"{installation_id}#{message_type}"


def creation_key(installation_id: int) -> str:
    """The partition of messages in MESSAGES_BY_CREATION."""
    return str(installation_id)


def deliveries_key(installation_id: int, event_id: str) -> str:
    """The partition of the messages of one event."""
    return f"{installation_id}#{DELIVERIES}#{event_id}"


def hours_key(installation_id: int, subscription_id: str) -> str:
    """The partition of a subscription's hourly messages; with `ALL`, of the whole installation's."""
    return f"{installation_id}#{HOURS}#{subscription_id}"
