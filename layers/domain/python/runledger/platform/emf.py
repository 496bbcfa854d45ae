"""CloudWatch's embedded metric format: of such a line in the log CloudWatch makes metrics, without a call or a wait.

By hand, so that what happened is one line, its log and its metrics, and not two that say the same twice.
"""

import json
import os
import time
from collections.abc import Mapping
from typing import Any

from runledger.model import times

# One service for all functions: each value of a dimension is a metric to pay for.
NAMESPACE, SERVICE = "Runledger", "runledger"
# Two stages of an account and region share the namespace, and not their alarms.
STAGE = os.environ.get("STAGE", "none")
COUNTED = (
    *("JobsQueued", "JobsWaiting", "JobsStarted", "JobsCompleted", "JobsFailed", "JobsReconciled"),
    *("ApprovalsRequested", "ApprovalsGiven", "ApprovalsRefused", "ForgottenApprovals"),
    *("RunnersScheduled", "RunnersRescheduled", "RunnersAttached", "RunnersRequested"),
    *("RebalanceRecommendations", "RunnersInterrupted", "RunnersTerminated", "RunnersTaken"),
    *("RerunsRequested", "RerunsRefused", "DuplicateDeliveries", "DeferredDeliveries", "RejectedEvents"),
    *("DeliveriesOutOfScope", "InvalidWebhookSecrets", "LookupsPostponed", "MessagesFailed"),
    *("StuckJobs", "JobsHealed", "LongRunningJobs", "WebhooksRedelivered", "ReconciliationErrors"),
    *("OrphanedRunnersDetected", "OrphanedRunnersCleaned", "OrphanedRunnersOverdue", "ContestedRunners"),
)
# Every metric there is.
UNITS = dict.fromkeys(COUNTED, "Count") | {
    "OrphanedRunnerRate": "Percent",
    "ReconciliationDuration": "Milliseconds",
    "QueueTime": "Milliseconds",
    "JobDuration": "Seconds",
    "Spend": "None",
    "SpotSavings": "None",
}

_encode = json.JSONEncoder(separators=(",", ":"), default=str).encode


def write(
    metrics: Mapping[str, float], *, about: Mapping[str, Any], dimensions: Mapping[str, str] | None = None
) -> None:
    """`about` is what a reader of the log is told: a property, which costs no metric, of each of these."""
    now = int(time.time() * times.MS_PER_SECOND)
    by = {"service": SERVICE, "stage": STAGE, **(dimensions or {})}
    told = {
        "Namespace": NAMESPACE,
        "Dimensions": [list(by)],
        "Metrics": [{"Name": name, "Unit": UNITS[name]} for name in metrics],
    }
    line = {"level": "INFO", "timestamp": times.from_epoch_ms(now), **about, **by, **metrics}
    print(_encode(line | {"_aws": {"Timestamp": now, "CloudWatchMetrics": [told]}}))
