"""Alarms on notifications: failed messages, overdue messages, and events that wait for the router."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_

from stacks.monitoring.alarms import Alarms

OLDEST_EVENT = cdk.Duration.minutes(10)
# The tick measures it every five minutes, and queues a message again once it is overdue by ten minutes.
OVERDUE = cdk.Duration.minutes(15)
MINUTES, PERIODS = 15, 2


def watch_notifications(alarms: Alarms, router: lambda_.Function) -> None:
    alarms.add(
        "NotificationsFailed",
        alarms.own.metric("NotificationsFailed", "Sum", minutes=MINUTES),
        "Notification messages failed permanently: the receiver refused them, or was unavailable for a day.",
    )
    alarms.add(
        "NotificationsWaiting",
        alarms.own.metric("OldestNotification", "Maximum", minutes=MINUTES),
        f"Notification messages are overdue by {OVERDUE.to_human_string()}, or the function notification_schedules, "
        "which measures this, isn't running.",
        threshold=OVERDUE.to_seconds(),
        periods=PERIODS,
        missing=cloudwatch.TreatMissingData.BREACHING,
    )
    alarms.add(
        "NotificationsDelayed",
        router.metric("IteratorAge", statistic="Maximum"),
        f"Feed events have waited for the router for over {OLDEST_EVENT.to_human_string()}. After a day, they expire "
        "without a message.",
        threshold=OLDEST_EVENT.to_milliseconds(),
    )
