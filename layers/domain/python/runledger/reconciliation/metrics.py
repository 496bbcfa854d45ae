"""Metrics and log lines of a pass. Each recorded event has its own."""

from runledger.platform import logs
from runledger.reconciliation.summary import Report
from runledger.reconciliation.tally import Count

COUNTED = {
    Count.DETECTED: "OrphanedRunnersDetected",
    Count.CLEANED: "OrphanedRunnersCleaned",
    Count.OVERDUE: "OrphanedRunnersOverdue",
    Count.CONTESTED: "ContestedRunners",
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
    """Logs an error that the next pass will not resolve, with the item that failed."""
    logs.logger.error("reconciliation failed", exc_info=error, extra={"item": item})


def finished(report: Report) -> None:
    tally = report.tally
    metrics = {name: tally.counts[count] for count, name in COUNTED.items()} | {
        "OrphanedRunnerRate": tally.orphan_rate,
        "ReconciliationDuration": report.duration_in_ms,
    }
    about = {"id": report.id, "pass": report.kind, "outcome": report.outcome, "summary": report.summary}
    logs.count("reconciliation", about | {"text": report.text().splitlines()}, metrics)
    for kind, count in STUCK.items():
        logs.count("stuck jobs", {"id": report.id}, {"StuckJobs": tally.counts[count]}, kind=kind)
