"""Graphs of features that a setting turns on."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from stacks.monitoring.own_metrics import OwnMetrics
from stacks.monitoring.rows import Row, aws_metric, row


def storage(own: OwnMetrics) -> Row:
    return row(
        ("Webhook copies to S3", own.sums("WebhookCopiesDeferred", "WebhookCopiesLost")),
        (
            "Scheduling attributes",
            own.sums("SchedulingHits", "SchedulingFallbacks", "SchedulingMisses", "RunnerConfigsRejected"),
        ),
    )


def feed(own: OwnMetrics, stream: str) -> Row:
    return row(
        ("Feed events", own.sums("FeedEventsWritten", "FeedEventsRepeated")),
        (
            "Feed stream age (ms)",
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
            "Messages and success rate (%)",
            own.sums("NotificationsCreated", *ended, "NotificationsRetried", "NotificationsSuppressed", minutes=60),
            [succeeded],
        ),
        (
            "Message latency (ms)",
            [own.metric("NotificationLatency", at).with_(label=at) for at in ("p50", "p90")],
        ),
        ("Most overdue message (s)", [own.metric("OldestNotification", "Maximum")]),
    )
