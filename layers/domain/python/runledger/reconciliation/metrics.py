"""What a pass tells CloudWatch and the log, beside what each recorded event tells by itself."""

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from runledger.reconciliation.summary import Report
from runledger.reconciliation.tally import Count
from runledger.telemetry import NAMESPACE, SERVICE, logger, metrics

COUNTED = {
    Count.DETECTED: "OrphanedRunnersDetected",
    Count.CLEANED: "OrphanedRunnersCleaned",
    Count.OVERDUE: "OrphanedRunnersOverdue",
    Count.ERRORS: "ReconciliationErrors",
    Count.HEALED: "JobsHealed",
    Count.REDELIVERED: "WebhooksRedelivered",
    Count.LONG_RUNNING: "LongRunningJobs",
    Count.FORGOTTEN: "ForgottenApprovals",
}
STUCK = {
    "queued": Count.STUCK_QUEUED,
    "scheduled": Count.STUCK_SCHEDULED,
    "in_progress": Count.STUCK_IN_PROGRESS,
    "waiting": Count.STUCK_WAITING,
}


def failed(item: str, error: Exception) -> None:
    """An error that no later pass will mend: once, with the item that it is about."""
    logger.error("reconciliation failed", exc_info=error, extra={"item": item})


def finished(report: Report) -> None:
    about = {"id": report.id, "pass": report.kind, "outcome": report.outcome, "summary": report.summary}
    logger.info("reconciliation", extra=about | {"text": report.text().splitlines()})
    for count, name in COUNTED.items():
        metrics.add_metric(name, MetricUnit.Count, report.tally.counts[count])
    metrics.add_metric("OrphanedRunnerRate", MetricUnit.Percent, report.tally.orphan_rate)
    metrics.add_metric("ReconciliationDuration", MetricUnit.Milliseconds, report.duration_in_ms)
    metrics.flush_metrics()
    for kind, count in STUCK.items():
        with single_metric("StuckJobs", MetricUnit.Count, report.tally.counts[count], namespace=NAMESPACE) as stuck:
            stuck.add_dimension("service", SERVICE)
            stuck.add_dimension("kind", kind)
