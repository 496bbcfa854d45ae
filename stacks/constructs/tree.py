"""Finds constructs in a stack's tree, so that none is left out, and the CloudFormation resource of a construct."""

from collections.abc import Iterator
from typing import TypeVar

import aws_cdk as cdk
from aws_cdk import aws_sqs as sqs
from constructs import Construct

Found = TypeVar("Found")


def find(kind: type[Found], *stacks: cdk.Stack) -> Iterator[Found]:
    for stack in stacks:
        for construct in stack.node.find_all():
            if isinstance(construct, kind):
                yield construct


def resource_of(construct: Construct, kind: type[Found]) -> Found:
    """The CloudFormation resource of a construct, for properties that CDK's class doesn't have."""
    resource = construct.node.default_child
    assert isinstance(resource, kind)
    return resource


def work_queues(*stacks: cdk.Stack) -> dict[str, sqs.Queue]:
    """The queues that functions consume, by their names in docs/runbook.md."""
    return {each.node.id.removesuffix("Queue"): each for each in find(sqs.Queue, *stacks) if each.dead_letter_queue}


def dead_letter_queues(*stacks: cdk.Stack) -> dict[str, sqs.Queue]:
    """The dead-letter queues, by their names in docs/runbook.md."""
    queues = find(sqs.Queue, *stacks)
    return {each.node.id.removesuffix("DeadLetters"): each for each in queues if not each.dead_letter_queue}
