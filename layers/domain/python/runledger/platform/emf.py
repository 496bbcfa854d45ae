"""CloudWatch's embedded metric format: CloudWatch extracts metrics from these log lines, without a call.

Not with Powertools: here one line is both the log entry and its metrics, instead of two lines with the same content.
"""

import json
import os
import time
from collections.abc import Mapping
from typing import Any

from runledger.model import times

# One service for all functions: each value of a dimension is billed as a metric.
NAMESPACE, SERVICE = "Runledger", "runledger"
# Stages in the same account and region share the namespace; this dimension separates their alarms.
STAGE = os.environ.get("STAGE", "none")
COUNTED = (
    *("JobsQueued", "JobsWaiting", "JobsStarted", "JobsCompleted", "JobsFailed", "JobsReconciled"),
    *("ApprovalsRequested", "ApprovalsGiven", "ApprovalsRefused", "ForgottenApprovals"),
    *("RunnersScheduled", "RunnersRescheduled", "RunnersAttached", "RunnersRequested"),
    *("RebalanceRecommendations", "RunnersInterrupted", "RunnersTerminated", "RunnersTaken"),
    *("RerunsRequested", "RerunsRefused", "DuplicateDeliveries", "DeferredDeliveries", "RejectedEvents"),
    *(
        "DeliveriesOutOfScope",
        "DeliveriesFromOtherHosts",
        "InvalidWebhookSecrets",
        "LookupsPostponed",
        "MessagesFailed",
    ),
    *("StuckJobs", "JobsHealed", "LongRunningJobs", "WebhooksRedelivered", "ReconciliationErrors"),
    *("OrphanedRunnersDetected", "OrphanedRunnersCleaned", "OrphanedRunnersOverdue", "ContestedRunners"),
    *("PassesSucceeded", "PassesFailed"),
    *("WebhookCopiesDeferred", "WebhookCopiesLost", "SchedulingHits", "SchedulingFallbacks", "SchedulingMisses"),
    "RunnerConfigsRejected",
    *("FeedEventsWritten", "FeedEventsRepeated"),
    *("NotificationsCreated", "NotificationsSuppressed", "NotificationsCompleted", "NotificationsRetried"),
    "NotificationsFailed",
)
# All metrics.
UNITS = dict.fromkeys(COUNTED, "Count") | {
    "OrphanedRunnerRate": "Percent",
    "CleanupLatency": "Seconds",
    "ReconciliationDuration": "Milliseconds",
    "QueueTime": "Milliseconds",
    "InternalQueueTime": "Milliseconds",
    "JobDuration": "Seconds",
    "NotificationLatency": "Milliseconds",
    "OldestNotification": "Seconds",
    "Spend": "None",
    "SpotSavings": "None",
}

_encode = json.JSONEncoder(separators=(",", ":"), default=str).encode


def write(
    metrics: Mapping[str, float], *, about: Mapping[str, Any], dimensions: Mapping[str, str] | None = None
) -> None:
    """`about` holds properties of the log line, which aren't billed as metrics."""
    now = int(time.time() * times.MS_PER_SECOND)
    by = {"service": SERVICE, "stage": STAGE, **(dimensions or {})}
    definition = {
        "Namespace": NAMESPACE,
        "Dimensions": [list(by)],
        "Metrics": [{"Name": name, "Unit": UNITS[name]} for name in metrics],
    }
    line = {"level": "INFO", "timestamp": times.from_epoch_ms(now), **about, **by, **metrics}
    print(_encode(line | {"_aws": {"Timestamp": now, "CloudWatchMetrics": [definition]}}))
