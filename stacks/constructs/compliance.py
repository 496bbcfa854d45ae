"""Accepts a cdk-nag finding on one construct, with a reason."""

import aws_cdk as cdk
from constructs import IConstruct


def accept(construct: IConstruct, rule: str, reason: str) -> None:
    cdk.Validations.of(construct).acknowledge(cdk.Acknowledgment(id=rule, reason=reason))
