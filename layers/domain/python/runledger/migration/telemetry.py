"""Logs and metrics of the storage phases with S3."""

from runledger.model.inputs import EventType
from runledger.platform.logs import count
from runledger.recording.decision import Decision


def copy_deferred(key: str, reason: str) -> None:
    about = {"level": "WARNING", "key": key, "reason": reason}
    count("webhook copy deferred", about, {"WebhookCopiesDeferred": 1})


def copy_lost(key: str, reason: str) -> None:
    """The ledger has the webhook, and S3 won't get it."""
    about = {"level": "ERROR", "key": key, "reason": reason}
    count("webhook copy lost", about, {"WebhookCopiesLost": 1})


def scheduling_found(decision: Decision) -> None:
    """A job has started, and the ledger has its scheduling attributes."""
    if decision.event.event_type is EventType.WEBHOOK_IN_PROGRESS and decision.job.scheduled_at is not None:
        about = {"installation_id": decision.job.installation_id, "job_id": decision.job.job_id}
        count("scheduling attributes found", about, {"SchedulingHits": 1})


def scheduling_looked_up(runner_id: str, *, in_s3: bool) -> None:
    """The ledger had no scheduling attributes of a job on this machine."""
    metric = "SchedulingFallbacks" if in_s3 else "SchedulingMisses"
    count("scheduling attributes looked up", {"runner_id": runner_id}, {metric: 1})


def runner_config_rejected(runner_id: str, error: Exception) -> None:
    """S3 has refused to return the runner config: a wrong bucket, policy or key."""
    about = {"level": "WARNING", "runner_id": runner_id, "reason": str(error)}
    count("runner config not read", about, {"RunnerConfigsRejected": 1})
