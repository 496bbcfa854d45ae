"""The functions, queues and APIs that alarms and graphs watch."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

from stacks.constructs.recorder import RECORDING_ACTIONS, RUNNER_ACTIONS
from stacks.constructs.tables import TABLES
from stacks.constructs.tree import dead_letter_queues, find, resource_of, work_queues

OPTIONAL_ACTIONS = {
    "FEED": ("dynamodb:PutItem",),
    "NOTIFICATIONS": ("dynamodb:PutItem", "dynamodb:UpdateItem"),
    "RELEASES": ("dynamodb:PutItem", "dynamodb:UpdateItem"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Functions by their file name, queues by their name in docs/runbook.md."""

    apis: tuple[apigateway.HttpApi, ...]
    functions: Mapping[str, lambda_.Function]
    queues: Mapping[str, sqs.Queue]
    dead_letters: Mapping[str, sqs.Queue]

    @classmethod
    def within(cls, *stacks: cdk.Stack) -> "Watched":
        return cls(
            apis=tuple(find(apigateway.HttpApi, *stacks)),
            functions={_file(function): function for function in find(lambda_.Function, *stacks)},
            queues=work_queues(*stacks),
            dead_letters=dead_letter_queues(*stacks),
        )

    @property
    def with_event_source(self) -> set[str]:
        """Functions that Lambda invokes with batches from a queue or a stream: failed messages are retried."""
        return {name for name, function in self.functions.items() if _has_event_source(function)}


def throttled_requests(tables: Mapping[str, dynamodb.Table]) -> Mapping[tuple[str, str], cloudwatch.Metric]:
    """For each table and operation that recording needs. Includes throttling of indexes."""
    return {
        (table, operation): throttled(tables[table].table_name, operation)
        for table, operation in recording_operations(tables)
    }


def throttled(table_name: str, operation: str) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace="AWS/DynamoDB",
        metric_name="ThrottledRequests",
        dimensions_map={"TableName": table_name, "Operation": operation},
        statistic="Sum",
    )


def recording_operations(tables: Collection[str]) -> Iterator[tuple[str, str]]:
    """The tables and operations that recording needs, for `tables`."""
    for table, actions in {**RECORDING_ACTIONS, **RUNNER_ACTIONS, **OPTIONAL_ACTIONS}.items():
        for action in actions:
            if (name := TABLES[table]) in tables:
                yield name, action.removeprefix("dynamodb:")


def _file(function: lambda_.Function) -> str:
    return str(resource_of(function, lambda_.CfnFunction).handler).removesuffix(".handler")


def _has_event_source(function: lambda_.Function) -> bool:
    return any(isinstance(child, lambda_.EventSourceMapping) for child in function.node.children)
