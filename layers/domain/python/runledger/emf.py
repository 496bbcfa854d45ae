"""CloudWatch's embedded metric format: of such a line in the log CloudWatch makes metrics, without a call or a wait.

By hand, so that what happened is one line, its log and its metrics, and not two that say the same twice.
"""

import json
import time
from collections.abc import Mapping
from typing import Any

from runledger import times

# One service for all functions: each value of a dimension is a metric to pay for.
NAMESPACE, SERVICE = "Runledger", "runledger"
COUNT, MILLISECONDS, SECONDS, PERCENT, NO_UNIT = "Count", "Milliseconds", "Seconds", "Percent", "None"
# Every metric there is.
UNITS = {
    **dict.fromkeys(
        ("JobsQueued", "JobsWaiting", "JobsStarted", "JobsCompleted", "JobsFailed", "JobsReconciled"), COUNT
    ),
    **dict.fromkeys(("ApprovalsRequested", "ApprovalsGiven", "ApprovalsRefused", "ForgottenApprovals"), COUNT),
    **dict.fromkeys(("RunnersScheduled", "RunnersRescheduled", "RunnersAttached", "RunnersRequested"), COUNT),
    **dict.fromkeys(("RebalanceRecommendations", "RunnersInterrupted", "RunnersTerminated", "RunnersTaken"), COUNT),
    **dict.fromkeys(("RerunsRequested", "RerunsRefused", "DuplicateDeliveries", "DeferredDeliveries"), COUNT),
    **dict.fromkeys(("StuckJobs", "JobsHealed", "LongRunningJobs", "WebhooksRedelivered"), COUNT),
    **dict.fromkeys(("OrphanedRunnersDetected", "OrphanedRunnersCleaned", "OrphanedRunnersOverdue"), COUNT),
    "ReconciliationErrors": COUNT,
    "OrphanedRunnerRate": PERCENT,
    "ReconciliationDuration": MILLISECONDS,
    "QueueTime": MILLISECONDS,
    "JobDuration": SECONDS,
    "Spend": NO_UNIT,
    "SpotSavings": NO_UNIT,
}

_encode = json.JSONEncoder(separators=(",", ":"), default=str).encode


def write(
    metrics: Mapping[str, float], *, about: Mapping[str, Any], dimensions: Mapping[str, str] | None = None
) -> None:
    """`about` is what a reader of the log is told: a property, which costs no metric, of each of these."""
    now = int(time.time() * times.MS_PER_SECOND)
    by = {"service": SERVICE, **(dimensions or {})}
    told = {
        "Namespace": NAMESPACE,
        "Dimensions": [list(by)],
        "Metrics": [{"Name": name, "Unit": UNITS[name]} for name in metrics],
    }
    line = {"level": "INFO", "timestamp": times.from_epoch_ms(now), **about, **by, **metrics}
    print(_encode(line | {"_aws": {"Timestamp": now, "CloudWatchMetrics": [told]}}))
