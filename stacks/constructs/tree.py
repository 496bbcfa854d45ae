"""Constructs found in the tree of stacks, so that a new resource is never left out."""

from collections.abc import Iterator
from typing import TypeVar

import aws_cdk as cdk
from aws_cdk import aws_sqs as sqs

Found = TypeVar("Found")


def find(kind: type[Found], *stacks: cdk.Stack) -> Iterator[Found]:
    for stack in stacks:
        for construct in stack.node.find_all():
            if isinstance(construct, kind):
                yield construct


def work_queues(*stacks: cdk.Stack) -> dict[str, sqs.Queue]:
    """The queues that feed functions, by their names in docs/operating.md."""
    return {each.node.id.removesuffix("Queue"): each for each in find(sqs.Queue, *stacks) if each.dead_letter_queue}


def dead_letter_queues(*stacks: cdk.Stack) -> dict[str, sqs.Queue]:
    """By their names in docs/operating.md."""
    queues = find(sqs.Queue, *stacks)
    return {each.node.id.removesuffix("DeadLetters"): each for each in queues if not each.dead_letter_queue}
