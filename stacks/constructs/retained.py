"""What is kept when a stack is deleted: the removal policy of queues and buckets, and secrets."""

from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from stacks.constructs import compliance
from stacks.constructs.tree import resource_of
from stacks.settings import Settings


def removal_policy(settings: Settings) -> cdk.RemovalPolicy:
    """Kept when the stack is deleted. Deleted if the stack's first deployment fails, so that you can repeat it."""
    return cdk.RemovalPolicy.DESTROY if settings.throw_away else cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE


def secret(scope: Construct, name: str, *, settings: Settings, **options: Any) -> str:
    """Uses the attribute `Arn`, because on the emulated AWS, the `Ref` that CDK would use is only the name."""
    made = secretsmanager.Secret(scope, name, removal_policy=removal_policy(settings), **options)
    compliance.accept(
        made,
        "AwsSolutions-SMG4",
        "GitHub or a person holds the other half: docs/runbook.md explains how to rotate it without downtime.",
    )
    return resource_of(made, secretsmanager.CfnSecret).attr_id
