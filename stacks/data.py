"""The tables, as `runledger.tables.schema` defines them."""

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct
from runledger.tables import schema

from stacks.constructs import compliance
from stacks.constructs.feed import FeedBucket
from stacks.constructs.references import export, refer_weakly
from stacks.constructs.storage import RunnerConfigBucket
from stacks.constructs.streams import output_streams
from stacks.constructs.tables import WITH_FIXED_NAMES
from stacks.monitoring.resource_alarms import watch_tables
from stacks.names import camel_case, fixed_table_name
from stacks.settings import Capacity, Settings

TARGET_UTILIZATION_PERCENT = 70
RELEASE_SOURCES = (schema.WORKFLOW_RUNS, schema.DEPLOYMENTS)


class DataStack(cdk.Stack):
    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id, termination_protection=not settings.throw_away)
        is_wanted = {
            schema.FEED: settings.feeds,
            schema.NOTIFICATIONS: settings.notifications,
            schema.RELEASES: settings.releases,
        }
        wanted = [table for table in (*schema.TABLES, *schema.OPTIONAL) if is_wanted.get(table, True)]
        self.tables: Mapping[str, dynamodb.Table] = {table.name: self._table(table, settings) for table in wanted}
        if settings.feeds:
            FeedBucket(self, settings=settings)
        output_streams(self, self.tables, _read_streams(settings))
        if settings.runner_config_bucket:
            RunnerConfigBucket(self, settings=settings)
        watch_tables(self, self.tables, settings=settings)

    def _table(self, table: schema.TableSchema, settings: Settings) -> dynamodb.Table:
        """An optional table is deleted when its setting is turned off."""
        name, is_optional = camel_case(table.name), table in schema.OPTIONAL
        is_thrown_away = settings.throw_away or is_optional
        # By default, CDK starts with 5 units, and auto-scaling raises them only minutes later.
        reads = settings.provisioned.read_min if settings.provisioned else None
        writes = settings.provisioned.write_min if settings.provisioned else None
        deployed = dynamodb.Table(
            self,
            name,
            table_name=fixed_table_name(settings.stage, table.name) if table.name in WITH_FIXED_NAMES else None,
            partition_key=_text(schema.PARTITION),
            sort_key=_text(schema.SORT),
            time_to_live_attribute=schema.EXPIRY,
            billing_mode=dynamodb.BillingMode.PROVISIONED
            if settings.provisioned
            else dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.AWS_MANAGED,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=settings.point_in_time_recovery
            ),
            stream=_stream(table, settings),
            deletion_protection=not is_thrown_away,
            # A protected table can't be deleted, not even if the stack's first deployment fails.
            removal_policy=cdk.RemovalPolicy.DESTROY if is_thrown_away else cdk.RemovalPolicy.RETAIN,
            read_capacity=reads,
            write_capacity=writes,
        )
        if is_optional:
            refer_weakly(deployed)
        else:
            export(deployed, deployed.table_name, deployed.table_arn)
        for index in table.indexes:
            deployed.add_global_secondary_index(
                index_name=index.name,
                partition_key=_text(index.partition),
                sort_key=_text(index.sort),
                projection_type=dynamodb.ProjectionType.INCLUDE if index.include else dynamodb.ProjectionType.KEYS_ONLY,
                non_key_attributes=list(index.include) or None,
                read_capacity=reads,
                write_capacity=writes,
            )
        if settings.provisioned:
            _scale(deployed, table, settings.provisioned)
        if not settings.point_in_time_recovery:
            compliance.accept(
                deployed,
                "AwsSolutions-DDB3",
                "The ledger can be rebuilt from GitHub and expires within 90 days. The setting "
                "point_in_time_recovery turns on backups, which cost extra.",
            )
        cdk.CfnOutput(self, f"{name}Table", value=deployed.table_name)
        return deployed


def _stream(table: schema.TableSchema, settings: Settings) -> dynamodb.StreamViewType | None:
    """All readers of a table get the same view, because it can't be changed while the stream is on."""
    is_streamed = table.name in _read_streams(settings) or (settings.streams and table in schema.TABLES)
    if not is_streamed:
        return None
    is_feed = table is schema.FEED  # its events don't change
    return dynamodb.StreamViewType.NEW_IMAGE if is_feed else dynamodb.StreamViewType.NEW_AND_OLD_IMAGES


def _read_streams(settings: Settings) -> list[str]:
    """The tables whose streams are read: the feed reads all except its own, and notifications read the feed table."""
    read = {
        **dict.fromkeys(schema.TABLES, settings.feeds),
        schema.FEED: settings.notifications,
        schema.RELEASES: settings.feeds and settings.releases,
    }
    if settings.releases:
        read |= dict.fromkeys(RELEASE_SOURCES, True)
    return [table.name for table, is_read in read.items() if is_read]


def _scale(deployed: dynamodb.Table, table: schema.TableSchema, capacity: Capacity) -> None:
    reads = {"min_capacity": capacity.read_min, "max_capacity": capacity.read_max}
    writes = {"min_capacity": capacity.write_min, "max_capacity": capacity.write_max}
    scaled = [deployed.auto_scale_read_capacity(**reads), deployed.auto_scale_write_capacity(**writes)]
    for index in table.indexes:
        scaled.append(deployed.auto_scale_global_secondary_index_read_capacity(index.name, **reads))
        scaled.append(deployed.auto_scale_global_secondary_index_write_capacity(index.name, **writes))
    for dimension in scaled:
        dimension.scale_on_utilization(target_utilization_percent=TARGET_UTILIZATION_PERCENT)


def _text(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
