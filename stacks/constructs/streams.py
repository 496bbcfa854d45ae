"""Table streams: outputs with their ARNs, and the mappings that invoke functions with their records.

Settings turn streams on and off, so other stacks look up outputs: an export would block the update that removes a
stream.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_sqs as sqs

from stacks.constructs import compliance
from stacks.constructs.function import LedgerFunction
from stacks.constructs.queues import dead_letters
from stacks.constructs.references import output_of_data
from stacks.names import camel_case
from stacks.settings import Settings

READ_ACTIONS = ("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator")
CHANGED = {"eventName": ["INSERT", "MODIFY"]}
# A batch is retried only if a service is unavailable. DynamoDB keeps records for a day, which is the limit.
UNTIL_EXPIRED = -1


def stream_output(table: str) -> str:
    return f"{camel_case(table)}StreamArn"


def output_streams(stack: cdk.Stack, tables: Mapping[str, dynamodb.Table], names: Iterable[str]) -> None:
    """In the data stack."""
    for name in names:
        cdk.CfnOutput(stack, stream_output(name), value=str(tables[name].table_stream_arn))


class StreamReader:
    """A function that reads streams, and the queue for records that it can't process."""

    def __init__(self, function: LedgerFunction, *, settings: Settings, discarded: sqs.Queue) -> None:
        self._function, self._settings, self._discarded = function, settings, discarded
        function.allow(discarded.queue_arn, "sqs:SendMessage")
        function.allow("*", "dynamodb:ListStreams")
        compliance.accept(
            function.role,
            "AwsSolutions-IAM5[Resource::*]",
            "dynamodb:ListStreams, which Lambda needs for a mapping, doesn't support resource-level permissions.",
        )

    def read(
        self,
        table: str,
        *patterns: Mapping[str, Any],
        batch_size: int,
        gather: cdk.Duration | None = None,
    ) -> None:
        """Lambda drops records that match none of the patterns before it invokes the function."""
        stream = output_of_data(self._settings, stream_output(table))
        self._function.allow(stream, *READ_ACTIONS)
        self._function.function.add_event_source_mapping(
            f"{camel_case(table)}Stream",
            event_source_arn=stream,
            # With LATEST, changes would be missed while the mapping is created. Repeated changes are harmless.
            starting_position=lambda_.StartingPosition.TRIM_HORIZON,
            batch_size=batch_size,
            max_batching_window=gather,
            bisect_batch_on_error=True,
            retry_attempts=UNTIL_EXPIRED,
            report_batch_item_failures=True,
            on_failure=event_sources.SqsDlq(self._discarded),
            filters=_filters(patterns),
        )


def discarded_records(scope: Any, name: str, *, settings: Settings) -> sqs.Queue:
    return dead_letters(
        scope,
        name,
        settings=settings,
        reason="It is itself the destination of records that can't be processed.",
        weak=True,
        removal_policy=cdk.RemovalPolicy.DESTROY,
    )


def _filters(patterns: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [lambda_.FilterCriteria.filter(dict(pattern)) for pattern in patterns]
