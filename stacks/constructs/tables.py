"""The tables, as the functions in other stacks refer to them."""

from collections.abc import Collection, Mapping

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct
from runledger.tables import schema

from stacks.names import fixed_table_name
from stacks.settings import Settings

# Keys are the prefixes of environment variables: see `TableSettings` in `runledger.wiring.settings`.
TABLES = {
    "JOBS": schema.WORKFLOW_JOBS.name,
    "JOB_EVENTS": schema.WORKFLOW_JOB_EVENTS.name,
    "RUNS": schema.WORKFLOW_RUNS.name,
    "DEPLOYMENTS": schema.DEPLOYMENTS.name,
    "RUNNERS": schema.RUNNERS.name,
    "FEED": schema.FEED.name,
    "NOTIFICATIONS": schema.NOTIFICATIONS.name,
    "RELEASES": schema.RELEASES.name,
}
# Other stacks refer to them often, and CloudFormation resolves each weak reference with a separate call.
WITH_FIXED_NAMES = (schema.NOTIFICATIONS.name, schema.RELEASES.name)


def table_environment(
    settings: Settings, tables: Mapping[str, dynamodb.Table], prefixes: Collection[str]
) -> dict[str, str]:
    """The names and retention periods of tables."""
    return table_names(settings, tables, prefixes) | {
        f"{prefix}_RETENTION_DAYS": str(settings.retention_days[TABLES[prefix]]) for prefix in sorted(prefixes)
    }


def table_names(settings: Settings, tables: Mapping[str, dynamodb.Table], prefixes: Collection[str]) -> dict[str, str]:
    return {f"{prefix}_TABLE": _name(settings, tables, TABLES[prefix]) for prefix in sorted(prefixes)}


def fixed_table_arn(scope: Construct, table: str, settings: Settings) -> str:
    name = fixed_table_name(settings.stage, table)
    return cdk.Stack.of(scope).format_arn(service="dynamodb", resource="table", resource_name=name)


def _name(settings: Settings, tables: Mapping[str, dynamodb.Table], table: str) -> str:
    return fixed_table_name(settings.stage, table) if table in WITH_FIXED_NAMES else tables[table].table_name
