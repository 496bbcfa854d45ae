"""Keys, indexes and projections of every table. The stacks and the table code both read them here."""

from dataclasses import dataclass

from runledger.model.keys import DeploymentKey, RunKey

PARTITION = "PK"
SORT = "SK"
EXPIRY = "ttl"
ONLY = "v"  # the sort key of items that stand alone under their partition key
PASSES = "passes"  # the partition of the reconciler's passes in runners
REGISTRY = "installations"  # the partition of installations in workflow_jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """Each write of a projected attribute is repeated in the index, so project keys, or what is written once."""

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
# A job is listed here once it has completed, so whatever is projected costs one write for each job. Statistics read
# this index alone. Jobs that a partial re-run has carried over are not listed.
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
# Of a run: open or done, so that the reconciler finds open runs. Two values, so two writes for each run.
BY_STATE = Index(name="by_state", partition="by_state", sort="created_at")
# Of events of the feed, in the order in which they were written. Only events whose status isn't `received` any more are
# in FEED_BY_STATUS: a status that every event has at first is not worth a write for each.
FEED_BY_TYPE = Index(name="by_type", partition="by_type", sort=SORT)
FEED_BY_STATUS = Index(name="by_status", partition="by_status", sort=SORT)
# Of messages of notifications. Only those that haven't ended are in MESSAGES_DUE, from which the sweep reads.
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
# Those that exist with a setting only.
OPTIONAL = (FEED, NOTIFICATIONS, RELEASES)
CONSUMERS, POSTS = "consumers", "posts"  # of the feed
# Of notifications.
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
    """The partition of the position of one event. Ids have 32 hexadecimal digits, so none is one of the words below."""
    return f"{installation_id}#{event_id}"


def feed_consumers_key(installation_id: int) -> str:
    return f"{installation_id}#{CONSUMERS}"


def feed_posts_key(installation_id: int) -> str:
    """The partition of an installation's counts of posted events."""
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
    """The partition of a subscription's messages by the hour, or of `ALL` those of the installation."""
    return f"{installation_id}#{HOURS}#{subscription_id}"
