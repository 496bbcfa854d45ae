"""Logs and metrics of intake and of recorded inputs. The ledger calls `recorded` once for each input.

Both are in one module, because each module adds to every cold start of intake.
"""

from collections.abc import Mapping
from typing import Any

from runledger.model import times
from runledger.model.errors import OutOfScope, Rejection, WrongHost
from runledger.model.inputs import EventType, Status
from runledger.model.job import Job
from runledger.model.reports import Input
from runledger.platform.logs import count, logger
from runledger.recording.decision import Decision, Outcome

EVENT_METRICS = {
    EventType.WEBHOOK_QUEUED: "JobsQueued",
    EventType.WEBHOOK_WAITING: "JobsWaiting",
    EventType.WEBHOOK_IN_PROGRESS: "JobsStarted",
    EventType.WEBHOOK_COMPLETED: "JobsCompleted",
    EventType.DEPLOYMENT_REQUESTED: "ApprovalsRequested",
    EventType.DEPLOYMENT_APPROVED: "ApprovalsGiven",
    EventType.DEPLOYMENT_REJECTED: "ApprovalsRefused",
    EventType.RUNNER_SCHEDULED: "RunnersScheduled",
    EventType.RUNNER_RESCHEDULED: "RunnersRescheduled",
    EventType.RUNNER_ATTACHED: "RunnersAttached",
    EventType.RUNNER_REBALANCE_RECOMMENDED: "RebalanceRecommendations",
    EventType.RUNNER_INTERRUPTED: "RunnersInterrupted",
    EventType.RUNNER_TERMINATED: "RunnersTerminated",
    EventType.RUNNER_TAKEN: "RunnersTaken",
    EventType.RERUN_REQUESTED: "RerunsRequested",
    EventType.RERUN_REFUSED: "RerunsRefused",
    EventType.RUNNER_REQUESTED: "RunnersRequested",
    EventType.JOB_RECONCILED: "JobsReconciled",
}
# Once a job has started, its log lines contain everything known about it, under the table's attribute names.
DETAILS = (
    *("conclusion", "runner_name", "instance_type", "instance_lifecycle", "pool_name", "scheduled_at"),
    *("internal_queue_duration_in_ms", "usage_in_seconds"),
)
DOLLAR_METRICS = {"usage_in_dollars": "Spend", "saved_in_dollars": "SpotSavings"}


def recorded(received: Input, decision: Decision | None) -> None:
    """Reports are only logged: the metrics are about jobs."""
    if decision:
        _job_event(decision)
    else:
        logger.info("report", extra=_about(received))


def _job_event(decision: Decision) -> None:
    job, event = decision.job, decision.event
    about = {
        "installation_id": job.installation_id,
        "job_id": job.job_id,
        "run_id": job.run_id,
        "repo_full_name": job.repo_full_name,
        "event_type": event.event_type,
        "status": job.status,
        "outcome": decision.outcome,
    }
    match decision.outcome:
        case Outcome.RECORDED if job.carried_over:
            logger.info("job event", extra=about | _details(job))
        case Outcome.RECORDED:
            count("job event", about | _details(job), _measured(decision))
        case Outcome.DUPLICATE:
            count("job event", about, {"DuplicateDeliveries": 1})
        case Outcome.REPEATED | Outcome.IGNORED:
            logger.info("job event", extra=about)


def _details(job: Job) -> dict[str, Any]:
    """Properties of the line and not dimensions, because each value of a dimension is billed as a metric."""
    if job.status.rank < Status.IN_PROGRESS.rank:
        return {}
    amounts = {name: float(amount) for name in DOLLAR_METRICS if (amount := getattr(job, name)) is not None}
    known = {name: getattr(job, name) for name in DETAILS} | {"overall_queue_duration_in_ms": job.queue_time_in_ms}
    present = {name: value for name, value in known.items() if value is not None}
    return {**present, **amounts, "was_interrupted": bool(job.was_interrupted)}


def delivery_rejected(rejection: Rejection) -> None:
    """A secret that is used for another tenant may be an attack, and another host is a mistake: both are counted."""
    counted = {OutOfScope: "DeliveriesOutOfScope", WrongHost: "DeliveriesFromOtherHosts"}
    if metric := counted.get(type(rejection)):
        about = {"level": "WARNING", "reason": str(rejection)}
        count("delivery rejected", about, {metric: 1})
    else:
        logger.warning("delivery rejected", extra={"reason": str(rejection)})


def secret_ignored(entry: str, reason: str) -> None:
    about = {"level": "ERROR", "entry": entry, "reason": reason}
    count("webhook secret ignored", about, {"InvalidWebhookSecrets": 1})


def deferred(received: Input, error: Exception) -> None:
    about = {"level": "WARNING", "reason": str(error)}
    count("recording deferred", _about(received) | about, {"DeferredDeliveries": 1})


def _about(received: Input) -> dict[str, Any]:
    """The ids and the status that the input contains."""
    names = ("installation_id", "job_id", "run_id", "deployment_id", "environment", "status")
    found = {name: getattr(received, name, None) for name in names} | {"kind": type(received).__name__}
    return {name: value for name, value in found.items() if value is not None}


def _measured(decision: Decision) -> dict[str, float]:
    job, event = decision.job, decision.event
    metrics: dict[str, float] = {EVENT_METRICS[event.event_type]: 1, **_dollars(event.changes or {})}
    if event.event_type is EventType.WEBHOOK_COMPLETED:
        metrics["JobsFailed"] = int(job.failed)
        if job.overall_queue_duration_in_ms is not None:
            metrics["QueueTime"] = job.overall_queue_duration_in_ms
        if job.internal_queue_duration_in_ms is not None:
            metrics["InternalQueueTime"] = job.internal_queue_duration_in_ms
        if job.started_at is not None and job.completed_at is not None:
            metrics["JobDuration"] = max(0, times.ms_between(job.started_at, job.completed_at)) / times.MS_PER_SECOND
    if event.event_type is EventType.RUNNER_TERMINATED:
        # A sample of 0 for each runner that ended, and one of 100 for each that became an orphan: their average over
        # any period is the orphan rate, and one metric is enough for its alarm.
        metrics["OrphanedRunnerRate"] = 0
    return metrics


def _dollars(changes: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """The change of each amount, because a price may be found or corrected after the job has completed."""
    return {
        metric: float(change.get("to", 0) - change.get("from", 0))
        for name, metric in DOLLAR_METRICS.items()
        if (change := changes.get(name))
    }
