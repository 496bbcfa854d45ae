"""The event feed: its queue, its functions, and what it adds to other functions. See docs/feed.md.

A setting turns the feed on and off, so other stacks refer to its parts weakly: an export would block the update that
removes it.
"""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct
from runledger.model.inputs import EventType
from runledger.model.reports import RunStatus
from runledger.tables import schema
from runledger.tables.release_keys import ENVIRONMENT_MARK, HEAD_MARK, LINE_MARK

from stacks.constructs import compliance
from stacks.constructs.conditions import IN_THIS_ACCOUNT, only_keys
from stacks.constructs.function import LedgerFunction
from stacks.constructs.queues import queue_with_dead_letters
from stacks.constructs.references import output_of_data
from stacks.constructs.retained import removal_policy
from stacks.constructs.streams import CHANGED, StreamReader, discarded_records
from stacks.constructs.tables import TABLES, table_environment, table_names
from stacks.names import Part, stack_name
from stacks.settings import Settings

# A failed message is hidden for six timeouts, and so are the later messages of its installation.
WRITER_TIMEOUT = cdk.Duration.seconds(30)
STREAM_TIMEOUT = cdk.Duration.seconds(30)
# A message has up to 50 events. In a batch, a message that fails would use up the receives of those after it.
MESSAGES_IN_A_BATCH = 1
RECORDS_IN_A_BATCH = 100
BUCKET = "FeedBucketName"
JOBS = "JOBS"
# Most events are about jobs. The other tables use larger batches, so that fewer functions run at the same time.
GATHER, GATHER_LONGER = cdk.Duration.seconds(1), cdk.Duration.seconds(5)
# Lambda drops other records before it invokes the function.
FILTERS: Mapping[str, Mapping[str, Any]] = {
    "JOBS": CHANGED | {"dynamodb": {"NewImage": {"job_id": {"N": [{"exists": True}]}}}},
    "JOB_EVENTS": {
        "eventName": ["INSERT"],
        "dynamodb": {"NewImage": {"event_type": {"S": [EventType.JOB_RECONCILED]}}},
    },
    "RUNS": CHANGED | {"dynamodb": {"NewImage": {"status": {"S": [RunStatus.COMPLETED]}}}},
    "DEPLOYMENTS": CHANGED | {"dynamodb": {"NewImage": {"deployment_id": {"N": [{"exists": True}]}}}},
    "RUNNERS": CHANGED | {"dynamodb": {"NewImage": {"runner_id": {"S": [{"exists": True}]}}}},
}
# Heads with a colour, environments, and release lines.
RELEASE_FILTERS = (
    CHANGED | {"dynamodb": {"NewImage": {HEAD_MARK: {"N": [{"exists": True}]}}}},
    CHANGED | {"dynamodb": {"NewImage": {ENVIRONMENT_MARK: {"BOOL": [{"exists": True}]}}}},
    CHANGED | {"dynamodb": {"NewImage": {LINE_MARK: {"N": [{"exists": True}]}}}},
)
WRITER_ACTIONS = ("dynamodb:Query", "dynamodb:GetItem", "dynamodb:PutItem")
API_ACTIONS = ("dynamodb:Query", "dynamodb:GetItem", "dynamodb:BatchGetItem")


class FeedBucket(Construct):
    """In the data stack: for data that is too large for the table. Its objects expire with the events. Its name is a
    stack output, so that the feed can be removed.
    """

    def __init__(self, scope: Construct, *, settings: Settings) -> None:
        super().__init__(scope, "FeedSources")  # the bucket's logical id begins with it
        expiry = cdk.Duration.days(settings.retention_days[schema.FEED.name] + 1)
        bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[s3.LifecycleRule(expiration=expiry, abort_incomplete_multipart_upload_after=expiry)],
            removal_policy=removal_policy(settings),
        )
        reason = "Only the feed's functions use it; CloudTrail can log their reads."
        compliance.accept(bucket, "AwsSolutions-S1", reason)
        cdk.CfnOutput(cdk.Stack.of(self), BUCKET, value=bucket.bucket_name)


class Feed(Construct):
    """The queue, the function that reads the streams, and the writer."""

    def __init__(
        self,
        scope: Construct,
        *,
        settings: Settings,
        tables: Mapping[str, dynamodb.Table],
        layer: lambda_.ILayerVersion,
    ) -> None:
        super().__init__(scope, "Feed")
        self._settings, self._tables, self._layer = settings, tables, layer
        self._table, self._bucket = tables[schema.FEED.name], output_of_data(settings, BUCKET)
        self.queue = queue_with_dead_letters(
            self,
            "FeedEvents",
            settings=settings,
            function_timeout=WRITER_TIMEOUT,
            weak=True,
            removal_policy=cdk.RemovalPolicy.DESTROY,
            fifo=True,
            deduplication_scope=sqs.DeduplicationScope.MESSAGE_GROUP,
            fifo_throughput_limit=sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
        )
        self._stream_function()
        self._writer_function()

    def environment(self) -> dict[str, str]:
        """The environment of functions that send events."""
        return {"FEED_QUEUE": self.queue.queue_url, "FEED_TYPES": ",".join(self._settings.feed_types)}

    def allow_sending(self, function: LedgerFunction) -> None:
        function.allow(self.queue.queue_arn, "sqs:SendMessage")

    def api_environment(self) -> dict[str, str]:
        return {
            **table_environment(self._settings, self._tables, {"FEED"}),
            "FEED_BUCKET": self._bucket,
            "FEED_POSTS_PER_MINUTE": str(self._settings.feed_posts_per_minute),
            **self.environment(),
        }

    def allow_api(self, function: LedgerFunction) -> None:
        """The API reads the feed, posts and counts custom events, and stores consumers' positions. It can't change an
        event.
        """
        self.allow_sending(function)
        function.allow(self._table.table_arn, *API_ACTIONS)
        for index in schema.FEED.indexes:
            function.allow(f"{self._table.table_arn}/index/{index.name}", "dynamodb:Query")
        function.function.add_to_role_policy(
            iam.PolicyStatement(
                actions=["dynamodb:UpdateItem"],
                resources=[self._table.table_arn],
                conditions=_only(schema.CONSUMERS, schema.POSTS),
            )
        )
        function.allow(self._table.table_arn, "dynamodb:DeleteItem", conditions=_only(schema.CONSUMERS))
        self._allow_objects(function, "s3:GetObject")

    def _stream_function(self) -> None:
        discarded = discarded_records(self, "FeedStreamDeadLetters", settings=self._settings)
        read = [*FILTERS, *(["RELEASES"] if self._settings.releases else [])]
        function = LedgerFunction(
            self,
            "feed_stream",
            settings=self._settings,
            layers=[self._layer],
            timeout=STREAM_TIMEOUT,
            environment={
                **table_names(self._settings, self._tables, read),
                "FEED_STREAM_DEAD_LETTERS": discarded.queue_url,
                **self.environment(),
            },
        )
        self.allow_sending(function)
        reader = StreamReader(function, settings=self._settings, discarded=discarded)
        for name, pattern in FILTERS.items():
            gather = GATHER if name == JOBS else GATHER_LONGER
            reader.read(TABLES[name], pattern, batch_size=RECORDS_IN_A_BATCH, gather=gather)
        if self._settings.releases:
            reader.read(schema.RELEASES.name, *RELEASE_FILTERS, batch_size=RECORDS_IN_A_BATCH, gather=GATHER_LONGER)

    def _writer_function(self) -> None:
        function = LedgerFunction(
            self,
            "feed_writer",
            settings=self._settings,
            layers=[self._layer],
            timeout=WRITER_TIMEOUT,
            environment={
                **table_environment(self._settings, self._tables, {"FEED"}),
                "FEED_BUCKET": self._bucket,
            },
        )
        function.allow(self._table.table_arn, *WRITER_ACTIONS)
        self._allow_objects(function, "s3:PutObject")
        function.consume(self.queue, batch_size=MESSAGES_IN_A_BATCH)

    def _allow_objects(self, function: LedgerFunction, action: str) -> None:
        objects = f"arn:{cdk.Aws.PARTITION}:s3:::{self._bucket}/feed/*"
        function.allow(objects, action, conditions=IN_THIS_ACCOUNT)
        data = stack_name(self._settings.stage, Part.DATA)
        bucket = f'{{"Fn::GetStackOutput":{{"StackName":"{data}","OutputName":"{BUCKET}"}}}}'
        compliance.accept(
            function.role,
            f"AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::{bucket}/feed/*]",
            "The keys of objects contain event ids.",
        )


def _only(*kinds: str) -> dict[str, object]:
    """Items of these kinds, for every installation."""
    return only_keys(*(f"*#{kind}" for kind in kinds))
