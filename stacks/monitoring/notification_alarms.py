"""Alarms on notifications: messages that failed, messages that wait, and events that wait for the router."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_

from stacks.monitoring.alarms import Alarms

OLDEST_EVENT = cdk.Duration.minutes(10)
# The tick, which measures it, comes every five minutes, and sends overdue messages once more after ten.
OVERDUE = cdk.Duration.minutes(15)
MINUTES, PERIODS = 15, 2


def watch_notifications(alarms: Alarms, router: lambda_.Function) -> None:
    alarms.add(
        "NotificationsFailed",
        alarms.own.metric("NotificationsFailed", "Sum", minutes=MINUTES),
        "Messages of notifications have failed for good: their receiver refused them, or was unavailable for a day.",
    )
    alarms.add(
        "NotificationsWaiting",
        alarms.own.metric("OldestNotification", "Maximum", minutes=MINUTES),
        f"Messages of notifications are overdue by {OVERDUE.to_human_string()}, or the tick that measures this doesn't "
        "run.",
        threshold=OVERDUE.to_seconds(),
        periods=PERIODS,
        missing=cloudwatch.TreatMissingData.BREACHING,
    )
    alarms.add(
        "NotificationsDelayed",
        router.metric("IteratorAge", statistic="Maximum"),
        f"Events of the feed have waited for the router for over {OLDEST_EVENT.to_human_string()}; after a day they "
        "lead to no message.",
        threshold=OLDEST_EVENT.to_milliseconds(),
    )
