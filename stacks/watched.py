"""All that is deployed and may fail, found in the tree of constructs, so that nothing new can be left out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import aws_cdk as cdk
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs

from stacks.recorder import KNOWS_RUNNERS, RECORDS, TABLES

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Functions by their file, queues by the name that docs/operating.md gives them."""

    api: apigateway.HttpApi
    access_logs: logs.LogGroup
    functions: Mapping[str, lambda_.Function]
    queues: Mapping[str, sqs.Queue]
    dead_letters: Mapping[str, sqs.Queue]
    tables: Mapping[str, dynamodb.Table]

    @classmethod
    def within(cls, *stacks: cdk.Stack, tables: Mapping[str, dynamodb.Table]) -> "Watched":
        queues = list(_find(sqs.Queue, stacks))
        (api,) = _find(apigateway.HttpApi, stacks)
        (access_logs,) = (group for group in _find(logs.LogGroup, stacks) if group.node.id == "AccessLogs")
        return cls(
            api=api,
            access_logs=access_logs,
            functions={_file(function): function for function in _find(lambda_.Function, stacks)},
            queues={queue.node.id.removesuffix("Queue"): queue for queue in queues if queue.dead_letter_queue},
            dead_letters={
                queue.node.id.removesuffix("DeadLetters"): queue for queue in queues if not queue.dead_letter_queue
            },
            tables=tables,
        )

    @property
    def without_queue(self) -> Mapping[str, lambda_.Function]:
        """Functions whose work nobody keeps for another try when they fail for good."""
        return {name: function for name, function in self.functions.items() if not _is_fed(function)}

    def throttled_requests(self) -> Mapping[tuple[str, str], cloudwatch.Metric]:
        """For each table and operation that recording needs: it counts also when an index is the cause."""
        return {
            (table, operation): self.tables[table].metric(
                "ThrottledRequests",
                dimensions_map={"TableName": self.tables[table].table_name, "Operation": operation},
                statistic="Sum",
            )
            for word, actions in {**RECORDS, **KNOWS_RUNNERS}.items()
            for table in (TABLES[word],)
            for operation in (action.removeprefix("dynamodb:") for action in actions)
        }


def _find(kind: type[Found], stacks: tuple[cdk.Stack, ...]) -> Iterator[Found]:
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
