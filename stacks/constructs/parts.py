"""Queues, secrets, exports and names that several stacks create in the same way."""

import json
import math
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sqs as sqs
from constructs import Construct
from runledger.tables import schema

from stacks.constructs import compliance
from stacks.constructs.tree import resource_of
from stacks.settings import Settings

TRIES_BEFORE_DEAD_LETTER = 5
# For every function that reads from a queue, unless the queue is created with another timeout.
FUNCTION_TIMEOUT = cdk.Duration.minutes(1)
# AWS recommends six, so that Lambda can retry a throttled call before SQS delivers the messages again.
TIMEOUTS_UNTIL_VISIBLE = 6


def queue(scope: Construct, name: str, *, settings: Settings, weak: bool = False, **options: Any) -> sqs.Queue:
    """Set `weak` if a setting can remove the value: an export would block the update that removes it."""
    made = sqs.Queue(
        scope,
        name,
        enforce_ssl=True,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        retention_period=cdk.Duration.days(14),
        **{"removal_policy": removal_policy(settings)} | options,
    )
    if weak:
        cdk.CrossStackReferences.of(made).produce(cdk.ReferenceStrength.WEAK)
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


def secret(scope: Construct, name: str, *, settings: Settings, **options: Any) -> str:
    """Uses the attribute `Arn`, because on the emulated AWS, the `Ref` that CDK would use is only the name."""
    made = secretsmanager.Secret(scope, name, removal_policy=removal_policy(settings), **options)
    compliance.accept(
        made,
        "AwsSolutions-SMG4",
        "GitHub or a person holds the other half: docs/runbook.md explains how to rotate it without downtime.",
    )
    return resource_of(made, secretsmanager.CfnSecret).attr_id


def fixed_table_name(table: schema.TableSchema, settings: Settings) -> str:
    """A fixed name, so that other stacks need no reference to the table."""
    return f"{settings.prefix}-{table.name}"


def fixed_table_arn(scope: Construct, table: schema.TableSchema, settings: Settings) -> str:
    name = fixed_table_name(table, settings)
    return cdk.Stack.of(scope).format_arn(service="dynamodb", resource="table", resource_name=name)


def camel_case(name: str) -> str:
    """`webhook_intake` → `WebhookIntake`, for logical ids."""
    return "".join(word.capitalize() for word in name.split("_"))


def removal_policy(settings: Settings) -> cdk.RemovalPolicy:
    """Kept when the stack is deleted. Deleted if the stack's first deployment fails, so that you can repeat it."""
    return cdk.RemovalPolicy.DESTROY if settings.throw_away else cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE


def export(owner: Construct, *values: str) -> None:
    """Exports values even if no other stack imports them.

    By default, CDK removes an export together with its last use. That update would fail: the exporting stack is updated
    first, while the deployed version of the other stack still imports the value.
    """
    for value in values:
        cdk.Stack.of(owner).export_value(value)


def orphan_policy(stack: cdk.Stack, settings: Settings) -> None:
    """Published in each region of the deployment: `make preflight` compares it with the policies of other deployments.

    Two deployments must not both stop the same machines.
    """
    policy = {
        "orphans": settings.orphans,
        "runner_tags": dict(settings.runner_tags),
        "runner_regions": list(settings.runner_regions),
    }
    cdk.CfnOutput(stack, "OrphanPolicy", value=json.dumps(policy, sort_keys=True))


def only_keys(*patterns: str) -> dict[str, object]:
    """An IAM condition: only items whose partition key matches one of the patterns."""
    return {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(patterns)}}
