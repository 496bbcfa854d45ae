"""Graphs of what exists with a setting only."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from stacks.monitoring.own_metrics import OwnMetrics
from stacks.monitoring.rows import Row, aws_metric, row


def storage(own: OwnMetrics) -> Row:
    return row(
        ("Copies of webhooks for S3", own.sums("WebhookCopiesDeferred", "WebhookCopiesLost")),
        (
            "Scheduling attributes",
            own.sums("SchedulingHits", "SchedulingFallbacks", "SchedulingMisses", "RunnerConfigsRejected"),
        ),
    )


def feed(own: OwnMetrics, stream: str) -> Row:
    return row(
        ("Events of the feed", own.sums("FeedEventsWritten", "FeedEventsRepeated")),
        (
            "Age of changes that the feed reads (ms)",
            [aws_metric("Lambda", "IteratorAge", "Maximum", label="oldest", FunctionName=stream)],
        ),
    )


def notifications(own: OwnMetrics) -> Row:
    ended = ("NotificationsCompleted", "NotificationsFailed")
    succeeded = cloudwatch.MathExpression(
        expression="100 * succeeded / (succeeded + failed)",
        using_metrics=dict(zip(("succeeded", "failed"), own.sums(*ended, minutes=60), strict=True)),
        period=cdk.Duration.hours(1),
        label="succeeded (%)",
    )
    return row(
        (
            "Messages, and the share that succeeds (%)",
            own.sums("NotificationsCreated", *ended, "NotificationsRetried", "NotificationsSuppressed", minutes=60),
            [succeeded],
        ),
        (
            "Time from a message to its completion (ms)",
            [own.metric("NotificationLatency", at).with_(label=at) for at in ("p50", "p90")],
        ),
        ("Longest overdue message (s)", [own.metric("OldestNotification", "Maximum")]),
    )
