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
from runledger.tables import schema

from stacks.constructs import compliance
from stacks.constructs.function import LedgerFunction
from stacks.constructs.parts import fixed_table_name, only_keys, queue_with_dead_letters, removal_policy
from stacks.constructs.recorder import TABLES, table_environment
from stacks.constructs.storage import IN_THIS_ACCOUNT
from stacks.constructs.streams import CHANGED, StreamReader, data_stack, discarded_records, output_of_data
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
        "dynamodb": {"NewImage": {"event_type": {"S": ["job_reconciled"]}}},
    },
    "RUNS": CHANGED | {"dynamodb": {"NewImage": {"status": {"S": ["completed"]}}}},
    "DEPLOYMENTS": CHANGED | {"dynamodb": {"NewImage": {"deployment_id": {"N": [{"exists": True}]}}}},
    "RUNNERS": CHANGED | {"dynamodb": {"NewImage": {"runner_id": {"S": [{"exists": True}]}}}},
}
# Heads with a colour, environments, and release lines.
RELEASE_FILTERS = (
    CHANGED | {"dynamodb": {"NewImage": {"coloured_run_id": {"N": [{"exists": True}]}}}},
    CHANGED | {"dynamodb": {"NewImage": {"is_rollback": {"BOOL": [{"exists": True}]}}}},
    CHANGED | {"dynamodb": {"NewImage": {"total_dependents": {"N": [{"exists": True}]}}}},
)
WRITES = ("dynamodb:Query", "dynamodb:GetItem", "dynamodb:PutItem")
READS = ("dynamodb:Query", "dynamodb:GetItem", "dynamodb:BatchGetItem")


class FeedSources(Construct):
    """In the data stack: a bucket for data that is too large for the table. Its name is a stack output, so that the
    feed can be removed.
    """

    def __init__(self, scope: Construct, *, settings: Settings) -> None:
        super().__init__(scope, "FeedSources")
        cdk.CfnOutput(cdk.Stack.of(self), BUCKET, value=FeedBucket(self, settings=settings).bucket_name)


class FeedBucket(s3.Bucket):
    """Its objects expire with the events."""

    def __init__(self, scope: Construct, *, settings: Settings) -> None:
        expiry = cdk.Duration.days(settings.retention_days[schema.FEED.name] + 1)
        super().__init__(
            scope,
            "Bucket",
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[s3.LifecycleRule(expiration=expiry, abort_incomplete_multipart_upload_after=expiry)],
            removal_policy=removal_policy(settings),
        )
        compliance.accept(self, "AwsSolutions-S1", "Only the feed's functions use it; CloudTrail can log their reads.")


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
        function.allow(self._table.table_arn, *READS)
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
        releases = {"RELEASES_TABLE": fixed_table_name(schema.RELEASES, self._settings)}
        function = LedgerFunction(
            self,
            "feed_stream",
            settings=self._settings,
            layers=[self._layer],
            timeout=STREAM_TIMEOUT,
            environment={
                **{f"{name}_TABLE": self._tables[TABLES[name]].table_name for name in FILTERS},
                **(releases if self._settings.releases else {}),
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
        function.allow(self._table.table_arn, *WRITES)
        self._allow_objects(function, "s3:PutObject")
        function.consume(self.queue, batch_size=MESSAGES_IN_A_BATCH)

    def _allow_objects(self, function: LedgerFunction, action: str) -> None:
        objects = f"arn:{cdk.Aws.PARTITION}:s3:::{self._bucket}/feed/*"
        function.allow(objects, action, conditions=IN_THIS_ACCOUNT)
        bucket = f'{{"Fn::GetStackOutput":{{"StackName":"{data_stack(self._settings)}","OutputName":"{BUCKET}"}}}}'
        compliance.accept(
            function.role,
            f"AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::{bucket}/feed/*]",
            "The keys of objects contain event ids.",
        )


def _only(*kinds: str) -> dict[str, object]:
    """Items of these kinds, for every installation."""
    return only_keys(*(f"*#{kind}" for kind in kinds))


def weakly(producer: Construct) -> None:
    cdk.CrossStackReferences.of(producer).produce(cdk.ReferenceStrength.WEAK)
