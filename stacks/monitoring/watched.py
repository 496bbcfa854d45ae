"""Everything deployed that may fail, found in the tree of constructs, so that a new resource is never left out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import aws_cdk as cdk
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

from stacks.constructs.recorder import KNOWS_RUNNERS, RECORDS, TABLES

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Functions by their file, queues by the name that docs/operating.md gives them."""

    apis: tuple[apigateway.HttpApi, ...]
    functions: Mapping[str, lambda_.Function]
    queues: Mapping[str, sqs.Queue]
    dead_letters: Mapping[str, sqs.Queue]

    @classmethod
    def within(cls, *stacks: cdk.Stack) -> "Watched":
        queues = list(find(sqs.Queue, *stacks))
        return cls(
            apis=tuple(find(apigateway.HttpApi, *stacks)),
            functions={_file(function): function for function in find(lambda_.Function, *stacks)},
            queues={queue.node.id.removesuffix("Queue"): queue for queue in queues if queue.dead_letter_queue},
            dead_letters={
                queue.node.id.removesuffix("DeadLetters"): queue for queue in queues if not queue.dead_letter_queue
            },
        )

    @property
    def fed_by_queues(self) -> set[str]:
        """Functions whose failed messages SQS keeps for another try."""
        return {name for name, function in self.functions.items() if _is_fed(function)}


def throttled_requests(tables: Mapping[str, dynamodb.Table]) -> Mapping[tuple[str, str], cloudwatch.Metric]:
    """For each table and operation that recording needs: it counts also when an index is the cause."""
    return {
        (table, operation): throttled(tables[table].table_name, operation)
        for table, operation in recording_operations()
    }


def throttled(table_name: str, operation: str) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace="AWS/DynamoDB",
        metric_name="ThrottledRequests",
        dimensions_map={"TableName": table_name, "Operation": operation},
        statistic="Sum",
    )


def recording_operations() -> Iterator[tuple[str, str]]:
    for word, actions in {**RECORDS, **KNOWS_RUNNERS}.items():
        for action in actions:
            yield TABLES[word], action.removeprefix("dynamodb:")


def find(kind: type[Found], *stacks: cdk.Stack) -> Iterator[Found]:
    for stack in stacks:
        for construct in stack.node.find_all():
            if isinstance(construct, kind):
                yield construct


def _file(function: lambda_.Function) -> str:
    deployed = function.node.default_child
    assert isinstance(deployed, lambda_.CfnFunction)
    return str(deployed.handler).removesuffix(".handler")


def _is_fed(function: lambda_.Function) -> bool:
    return any(isinstance(child, lambda_.EventSourceMapping) for child in function.node.children)
