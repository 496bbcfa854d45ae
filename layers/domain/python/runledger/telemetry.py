"""Structured logs and EMF metrics, which CloudWatch makes from the log: no call, no wait, no extra cost per request."""

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

if "aws_lambda_powertools" not in sys.modules and (_spec := importlib.util.find_spec("aws_lambda_powertools")):
    # Powertools' package file imports its Tracer, which we do not use: enter the package without running that file.
    sys.modules["aws_lambda_powertools"] = importlib.util.module_from_spec(_spec)

from aws_lambda_powertools.logging import Logger
from aws_lambda_powertools.metrics import Metrics, MetricUnit

from runledger.decision import Decision, Outcome
from runledger.model import EventType, Receipt
from runledger.reports import Report, RerunCheck

SERVICE, NAMESPACE = "runledger", "Runledger"

logger = Logger(utc=True)
# One service name for all functions: each value of a dimension is a metric to pay for.
metrics = Metrics(service=SERVICE, namespace=NAMESPACE)

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
DOLLAR_METRICS = {"usage_in_dollars": "Spend", "saved_in_dollars": "SpotSavings"}


def follow(delivery_id: str) -> None:
    """Every line from here on carries the delivery's id, in whichever function it is."""
    logger.set_correlation_id(delivery_id)


def taken(said: Receipt | Report, decision: Decision | None) -> None:
    """Reports are logged; what is counted is what happens to jobs."""
    if decision:
        _recorded(decision)
    else:
        logger.info("report", extra=_about(said))


def _recorded(decision: Decision) -> None:
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
    logger.info("job event", extra=about)
    match decision.outcome:
        case Outcome.REPEATED:
            return
        case Outcome.DUPLICATE:
            metrics.add_metric("DuplicateDeliveries", MetricUnit.Count, 1)
        case Outcome.RECORDED:
            _measure(decision)
    for name, value in about.items():
        metrics.add_metadata(name, value)
    metrics.flush_metrics()


def deferred(said: Receipt | Report, trouble: Exception) -> None:
    logger.warning("recording must wait", extra=_about(said) | {"reason": str(trouble)})
    metrics.add_metric("DeferredDeliveries", MetricUnit.Count, 1)
    metrics.flush_metrics()


def considered(check: RerunCheck, result: str) -> None:
    logger.info("re-run considered", extra=asdict(check) | {"result": result})


def _about(said: Receipt | Report) -> dict[str, Any]:
    """The ids and the status that it names."""
    names = ("installation_id", "job_id", "run_id", "deployment_id", "environment", "status")
    found = {name: getattr(said, name, None) for name in names} | {"kind": type(said).__name__}
    return {name: value for name, value in found.items() if value is not None}


def _measure(decision: Decision) -> None:
    job = decision.job
    metrics.add_metric(EVENT_METRICS[decision.event.event_type], MetricUnit.Count, 1)
    _measure_dollars(decision.event.changes or {})
    if decision.event.event_type is not EventType.WEBHOOK_COMPLETED:
        return
    metrics.add_metric("JobsFailed", MetricUnit.Count, int(job.failed))
    if job.overall_queue_duration_in_ms is not None:
        metrics.add_metric("QueueTime", MetricUnit.Milliseconds, job.overall_queue_duration_in_ms)
    if job.usage_in_seconds:
        metrics.add_metric("JobDuration", MetricUnit.Seconds, job.usage_in_seconds)


def _measure_dollars(changes: Mapping[str, Mapping[str, Any]]) -> None:
    """A price may be learnt or corrected after the job: whichever event brings it, the sums come out right."""
    for name, metric in DOLLAR_METRICS.items():
        if change := changes.get(name):
            metrics.add_metric(metric, MetricUnit.NoUnit, float(change.get("to", 0) - change.get("from", 0)))
