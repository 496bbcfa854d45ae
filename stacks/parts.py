"""Queues and secrets, as every stack makes them."""

from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks import compliance
from stacks.settings import Settings

TRIES_BEFORE_DEAD_LETTER = 5


def queue(scope: Construct, name: str, *, settings: Settings, **options: Any) -> sqs.Queue:
    return sqs.Queue(
        scope,
        name,
        enforce_ssl=True,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        retention_period=cdk.Duration.days(14),
        removal_policy=removal_policy(settings),
        **options,
    )


def queue_with_dead_letters(scope: Construct, name: str, *, settings: Settings) -> sqs.Queue:
    """What fails is tried again every few minutes, and then kept aside for somebody to look at."""
    return queue(
        scope,
        f"{name}Queue",
        settings=settings,
        visibility_timeout=cdk.Duration.minutes(6),
        dead_letter_queue=sqs.DeadLetterQueue(
            queue=queue(scope, f"{name}DeadLetters", settings=settings), max_receive_count=TRIES_BEFORE_DEAD_LETTER
        ),
    )


def secret(scope: Construct, name: str, *, settings: Settings, **options: Any) -> str:
    """Its ARN, as an attribute: the `Ref` that CDK would use is only the name on the emulated AWS."""
    made = secretsmanager.Secret(scope, name, removal_policy=removal_policy(settings), **options)
    compliance.accept(
        made,
        "AwsSolutions-SMG4",
        "GitHub or a person holds the other half: docs/operating.md tells how to rotate it without downtime.",
    )
    deployed = made.node.default_child
    assert isinstance(deployed, secretsmanager.CfnSecret)
    return deployed.attr_id


def removal_policy(settings: Settings) -> cdk.RemovalPolicy:
    return cdk.RemovalPolicy.DESTROY if settings.throw_away else cdk.RemovalPolicy.RETAIN
