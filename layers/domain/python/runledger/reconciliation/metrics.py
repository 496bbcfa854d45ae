"""Metrics and log lines of a pass. Recorded events have their own: see `recording.telemetry`."""

from typing import Any

from runledger.model.passes import PassKind, PassOutcome
from runledger.model.runner import Runner
from runledger.platform import logs
from runledger.reconciliation.summary import PassReport
from runledger.reconciliation.tally import STUCK, Count

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
# Repositories are properties of the line: as a dimension, each would be billed as a metric.
ORPHAN_DETAILS = ("runner_id", "installation_id", "repo_full_name", "job_id", "pool_name")
# A sample of the orphan rate. `recording.telemetry` has the other one, for a runner that ended.
BECAME_AN_ORPHAN = 100


def failed(item: str, error: Exception) -> None:
    """Logs an error that the next pass will not resolve, with the item that failed."""
    logs.logger.error("reconciliation failed", exc_info=error, extra={"item": item})


def crashed() -> None:
    """For a pass without a report. If the function times out, only Lambda counts it."""
    logs.count("pass failed", {"level": "ERROR"}, {"PassesSucceeded": 0, "PassesFailed": 1})


def finished(report: PassReport) -> None:
    tally = report.tally
    metrics = {name: tally.counts[count] for count, name in COUNTED.items()} | {
        "ReconciliationDuration": report.duration_in_ms,
    }
    if report.kind is not PassKind.CLEANUP:
        # A pass that ran out of time has neither succeeded nor failed: the next one continues.
        metrics["PassesSucceeded"] = int(report.outcome is PassOutcome.SUCCESS)
        metrics["PassesFailed"] = int(report.outcome is PassOutcome.ERRORS)
    about = {"id": report.id, "pass": report.kind, "outcome": report.outcome, "summary": report.summary}
    logs.count("reconciliation", about | {"text": report.text().splitlines()}, metrics)
    for kind, count in STUCK.items():
        logs.count("stuck jobs", {"id": report.id}, {"StuckJobs": tally.counts[count]}, kind=kind)
    for runner in tally.suspected:
        logs.count("orphan suspected", _orphan(runner, report), {"OrphanedRunnerRate": BECAME_AN_ORPHAN})
    for runner, latency in tally.terminated:
        logs.count("orphan cleaned", _orphan(runner, report), {"CleanupLatency": latency})


def _orphan(runner: Runner, report: PassReport) -> dict[str, Any]:
    known = {name: getattr(runner, name) for name in ORPHAN_DETAILS} | {"reason": runner.suspected_reason}
    return {"id": report.id} | {name: value for name, value in known.items() if value is not None}
