"""Alarms on queues, functions, tables and the API. They are found in a stack's construct tree, so none is left out."""

import math
from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

from stacks.constructs.queues import TRIES_BEFORE_DEAD_LETTER
from stacks.constructs.tree import resource_of
from stacks.monitoring.alarms import MINUTES_PER_HOUR, Alarms
from stacks.monitoring.notification_alarms import watch_notifications
from stacks.monitoring.watched import Watched, throttled_requests
from stacks.settings import Settings

# SQS ignores a message in the age metric after three receives, that is after two visibility timeouts of six minutes.
OLDEST_MESSAGE = cdk.Duration.minutes(10)
# A message is received five times, one visibility timeout apart. A period is five timeouts long, so these receives fall
# into at most two periods, and one period has at least three.
FAILURES = 3
# Requests aren't retried.
FAILED_REQUESTS, REQUESTS_WITHIN = 3, cdk.Duration.minutes(15)
# A full pass starts twice an hour.
FAILED_PASSES, PASSES_WITHIN = 2, cdk.Duration.minutes(60)
# CloudWatch evaluates at most the last day, or the last week in periods of an hour.
LONGEST_IN_SHORT_PERIODS = 24 * MINUTES_PER_HOUR
# A quick pass starts every five minutes.
WITHOUT_A_PASS, WITHOUT_PASS_PERIODS = cdk.Duration.minutes(15), 2
INTAKE, RECONCILER = "webhook_intake", "reconciler"
FEED_STREAM, RELEASE_STREAM = "feed_stream", "release_stream"
ROUTER, SENDER = "notification_router", "notification_sender"
# Its messages wait for up to 15 minutes on purpose: the alarm `NotificationsWaiting` watches overdue messages.
DELAYED_QUEUES = {"NotificationsSlow"}
OLDEST_CHANGE = cdk.Duration.minutes(10)
FEED_QUEUE = "FeedEvents"
# SQS looks for message groups, which are installations, in the first 120,000 messages of a FIFO queue.
FEED_BACKLOG = 20_000


def watch(stack: cdk.Stack, *, settings: Settings) -> None:
    watched, alarms = Watched.within(stack), Alarms(stack, settings=settings)
    for api in watched.apis:
        alarms.add(
            "ServerErrors",
            api.metric_server_error(),
            "The API returned 5xx. A delivery with this response is neither recorded nor queued, and GitHub redelivers "
            "it only on request.",
        )
    if settings.no_webhook_alarm_minutes and INTAKE in watched.functions:
        _silence(alarms, watched.functions[INTAKE], settings.no_webhook_alarm_minutes)
    if FEED_STREAM in watched.functions:
        _delay(alarms, "FeedDelayed", watched.functions[FEED_STREAM], reader="the feed")
    if RELEASE_STREAM in watched.functions:
        _delay(alarms, "HeadsDelayed", watched.functions[RELEASE_STREAM], reader="the heads")
    if FEED_QUEUE in watched.queues:
        _backlog(alarms, watched.queues[FEED_QUEUE])
    if SENDER in watched.functions:
        watch_notifications(alarms, watched.functions[ROUTER])
    _queues(alarms, watched)
    _functions(alarms, watched)


def watch_tables(stack: cdk.Stack, tables: Mapping[str, dynamodb.Table], *, settings: Settings) -> None:
    """Needs two periods of three, because retries cover a short peak."""
    alarms = Alarms(stack, settings=settings)
    for (table, operation), metric in throttled_requests(tables).items():
        alarms.add(
            f"Throttled-{table}-{operation}",
            metric,
            f"DynamoDB keeps throttling {operation} on {table}, which delays recording.",
            periods=3,
            at_least=2,
        )


def _silence(alarms: Alarms, intake: lambda_.Function, minutes: int) -> None:
    """A function that isn't invoked has no data, not zero, so missing data must trigger the alarm."""
    period = 5 if minutes <= LONGEST_IN_SHORT_PERIODS else MINUTES_PER_HOUR
    alarms.add(
        "NoWebhook",
        intake.metric_invocations(period=cdk.Duration.minutes(period)),
        f"GitHub has sent no webhook for {minutes} minutes: check that the webhook exists and is active.",
        comparison=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
        threshold=1,
        periods=math.ceil(minutes / period),
        missing=cloudwatch.TreatMissingData.BREACHING,
    )


def _delay(alarms: Alarms, name: str, stream: lambda_.Function, *, reader: str) -> None:
    alarms.add(
        name,
        stream.metric("IteratorAge", statistic="Maximum"),
        f"Table changes have waited for {reader} for over {OLDEST_CHANGE.to_human_string()}. They expire after a day.",
        threshold=OLDEST_CHANGE.to_milliseconds(),
    )


def _backlog(alarms: Alarms, queue: sqs.Queue) -> None:
    alarms.add(
        "FeedBacklog",
        queue.metric_approximate_number_of_messages_visible(),
        f"Over {FEED_BACKLOG:,} messages are waiting for the feed writer. If one installation has 120,000, all others "
        "are blocked.",
        threshold=FEED_BACKLOG,
    )


def _queues(alarms: Alarms, watched: Watched) -> None:
    for name, queue in watched.queues.items():
        if name in DELAYED_QUEUES:
            continue
        alarms.add(
            f"QueueAge-{name}",
            queue.metric_approximate_age_of_oldest_message(),
            f"A message has waited in {name} for over {OLDEST_MESSAGE.to_human_string()}: every attempt fails, or the "
            "queue isn't processed fast enough.",
            threshold=OLDEST_MESSAGE.to_seconds(),
        )
    for name, queue in watched.dead_letters.items():
        alarms.add(
            f"DeadLetters-{name}",
            queue.metric_approximate_number_of_messages_visible(),
            f"{name} has dead letters, which are kept for 14 days. Fix the cause. docs/runbook.md lists what each "
            "queue contains, and whether its dead letters can be redriven.",
        )


def _functions(alarms: Alarms, watched: Watched) -> None:
    """Lambda counts no error when a function reports failed messages, so these have a separate metric."""
    for name, function in watched.functions.items():
        if name in watched.with_event_source:
            limit, within, remark = FAILURES, _time_of_tries(watched), "Its messages are retried."
            minutes = round(within.to_minutes())
            alarms.add_count(
                f"MessageFailures-{name}",
                alarms.own.metric("MessagesFailed", "Sum", minutes=minutes, function=name),
                f"{name} failed to process {limit} messages in {minutes} minutes. They are retried: five times from a "
                "queue, for a day from a stream.",
                at_least=limit,
            )
        elif name == RECONCILER:
            limit, within, remark = FAILED_PASSES, PASSES_WITHIN, "The next pass starts on schedule."
            _no_pass(alarms, function)
        else:
            limit, within, remark = FAILED_REQUESTS, REQUESTS_WITHIN, "Its requests aren't retried."
        alarms.add_count(
            f"FunctionErrors-{name}",
            function.metric_errors(period=within),
            f"{name} crashed or timed out {limit} times in {within.to_human_string()}. {remark}",
            at_least=limit,
        )


def _no_pass(alarms: Alarms, reconciler: lambda_.Function) -> None:
    """If Lambda throttles a pass for minutes, it drops the pass, and counts neither an error nor an invocation."""
    alarms.add(
        "NoPass",
        reconciler.metric_invocations(period=WITHOUT_A_PASS),
        "The reconciler hasn't run for half an hour: Lambda has no free concurrency, or its schedules are disabled.",
        comparison=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
        threshold=1,
        periods=WITHOUT_PASS_PERIODS,
        missing=cloudwatch.TreatMissingData.BREACHING,
    )


def _time_of_tries(watched: Watched) -> cdk.Duration:
    """How long a message takes to become a dead letter, in the queue with the longest visibility timeout."""
    longest = max(resource_of(each, sqs.CfnQueue).visibility_timeout or 0 for each in watched.queues.values())
    return cdk.Duration.seconds(TRIES_BEFORE_DEAD_LETTER * longest)
