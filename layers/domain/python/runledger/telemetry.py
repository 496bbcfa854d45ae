"""What happens is told in the log, as JSON: for a person who follows a delivery, and for CloudWatch, which counts."""

import importlib.util
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

if "aws_lambda_powertools" not in sys.modules and (_spec := importlib.util.find_spec("aws_lambda_powertools")):
    # Powertools' package file imports its Tracer, which we do not use: enter the package without running that file.
    sys.modules["aws_lambda_powertools"] = importlib.util.module_from_spec(_spec)

from aws_lambda_powertools.logging import Logger

from runledger import emf
from runledger.decision import Decision, Outcome
from runledger.errors import NewerMessage, OutOfScope, Refusal, UnavailableError
from runledger.model import EventType, Receipt
from runledger.reports import Report, RerunCheck

FUNCTION = os.environ.get("FUNCTION", "")

logger = Logger(service=emf.SERVICE, function=FUNCTION, utc=True, datefmt="%Y-%m-%dT%H:%M:%S.%FZ")  # as `times` has it

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


def count(message: str, about: Mapping[str, Any], metrics: Mapping[str, float], **dimensions: str) -> None:
    """A line of the log from which CloudWatch counts: so it is written at every log level."""
    correlated = {"correlation_id": logger.get_correlation_id(), "function": FUNCTION}
    emf.write(metrics, about={"message": message} | correlated | dict(about), dimensions=dimensions)


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
    match decision.outcome:
        case Outcome.RECORDED:
            count("job event", about, _measured(decision))
        case Outcome.DUPLICATE:
            count("job event", about, {"DuplicateDeliveries": 1})
        case Outcome.REPEATED | Outcome.IGNORED:
            logger.info("job event", extra=about)


def deferred(said: Receipt | Report, trouble: Exception) -> None:
    about = {"level": "WARNING", "reason": str(trouble)}
    count("recording must wait", _about(said) | about, {"DeferredDeliveries": 1})


def rejected(message_id: str, refusal: Refusal, *, first: bool) -> None:
    """A message that its sender got wrong, or had no right to send. Counted at its first try."""
    about = {"level": "ERROR", "message_id": message_id, "reason": str(refusal)}
    count("message rejected", about, {"RejectedEvents": int(first)})


def newer_message(newer: NewerMessage, **about: Any) -> None:
    """Expected for minutes while an upgrade is under way, and after a rollback until the next upgrade."""
    versions = {"version": newer.version, "supported": newer.supported}
    logger.error("message has a newer version", extra=versions | about)


def messages_failed(number: int) -> None:
    """Counted for each function, because Lambda counts no error when only messages of a batch fail."""
    count("messages failed", {"level": "ERROR"}, {"MessagesFailed": number}, function=FUNCTION)


def refused(refusal: Refusal) -> None:
    """Deliveries out of scope are counted, because a secret that is used for another tenant may be an attack."""
    if isinstance(refusal, OutOfScope):
        about = {"level": "WARNING", "reason": str(refusal)}
        count("delivery refused", about, {"DeliveriesOutOfScope": 1})
    else:
        logger.warning("delivery refused", extra={"reason": str(refusal)})


def secret_ignored(entry: str, reason: str) -> None:
    about = {"level": "ERROR", "entry": entry, "reason": reason}
    count("webhook secret ignored", about, {"InvalidWebhookSecrets": 1})


def lookup_postponed(trouble: UnavailableError) -> None:
    """EC2, ECS or the price list did not answer. It is asked again: the alarm is about trouble that stays."""
    about = {"level": "WARNING", "reason": str(trouble)}
    count("lookup postponed", about, {"LookupsPostponed": 1})


def considered(check: RerunCheck, result: str) -> None:
    logger.info("re-run considered", extra=asdict(check) | {"result": result})


def _about(said: Receipt | Report) -> dict[str, Any]:
    """The ids and the status that it names."""
    names = ("installation_id", "job_id", "run_id", "deployment_id", "environment", "status")
    found = {name: getattr(said, name, None) for name in names} | {"kind": type(said).__name__}
    return {name: value for name, value in found.items() if value is not None}


def _measured(decision: Decision) -> dict[str, float]:
    job, event = decision.job, decision.event
    metrics: dict[str, float] = {EVENT_METRICS[event.event_type]: 1, **_dollars(event.changes or {})}
    if event.event_type is EventType.WEBHOOK_COMPLETED:
        metrics["JobsFailed"] = int(job.failed)
        if job.overall_queue_duration_in_ms is not None:
            metrics["QueueTime"] = job.overall_queue_duration_in_ms
        if job.usage_in_seconds:
            metrics["JobDuration"] = job.usage_in_seconds
    return metrics


def _dollars(changes: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """A price may be learnt or corrected after the job: whichever event brings it, the sums come out right."""
    return {
        metric: float(change.get("to", 0) - change.get("from", 0))
        for name, metric in DOLLAR_METRICS.items()
        if (change := changes.get(name))
    }
