"""Queues and their dead-letter queues."""

import math
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs import compliance
from stacks.constructs.references import export, refer_weakly
from stacks.constructs.retained import removal_policy
from stacks.settings import Settings

TRIES_BEFORE_DEAD_LETTER = 5
# For every function that reads from a queue, unless the queue is created with another timeout.
FUNCTION_TIMEOUT = cdk.Duration.minutes(1)
# AWS recommends six, so that Lambda can retry a throttled call before SQS delivers the messages again.
TIMEOUTS_UNTIL_VISIBLE = 6


def queue(scope: Construct, name: str, *, settings: Settings, weak: bool = False, **options: Any) -> sqs.Queue:
    """Set `weak` if a setting can remove the queue: see `refer_weakly`."""
    made = sqs.Queue(
        scope,
        name,
        enforce_ssl=True,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        retention_period=cdk.Duration.days(14),
        **{"removal_policy": removal_policy(settings)} | options,
    )
    if weak:
        refer_weakly(made)
    else:
        export(made, made.queue_url, made.queue_arn, made.queue_name)
    return made


def queue_with_dead_letters(
    scope: Construct,
    name: str,
    *,
    settings: Settings,
    function_timeout: cdk.Duration = FUNCTION_TIMEOUT,
    **options: Any,
) -> sqs.Queue:
    """A failed message is retried after the visibility timeout, and becomes a dead letter after five attempts.

    The `options` apply to the queue and to its dead-letter queue.
    """
    visible_after = math.ceil(TIMEOUTS_UNTIL_VISIBLE * function_timeout.to_seconds() / 60)
    return queue(
        scope,
        f"{name}Queue",
        settings=settings,
        visibility_timeout=cdk.Duration.minutes(visible_after),
        dead_letter_queue=sqs.DeadLetterQueue(
            queue=queue(scope, f"{name}DeadLetters", settings=settings, **options),
            max_receive_count=TRIES_BEFORE_DEAD_LETTER,
        ),
        **options,
    )


def dead_letters(scope: Construct, name: str, *, settings: Settings, reason: str, **options: Any) -> sqs.Queue:
    """For events that couldn't be delivered to a target. `reason` explains why it needs no dead-letter queue itself."""
    made = queue(scope, name, settings=settings, **options)
    compliance.accept(made, "AwsSolutions-SQS3", reason)
    return made
