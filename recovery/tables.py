"""Whole tables: scans a table, copies missing items from a restored table, and creates deleted tables again."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError
from runledger.tables.attributes import Attributes, from_attributes, is_condition_failure

ABSENT = "attribute_not_exists(PK)"
TABLE = "AWS::DynamoDB::Table"
# The properties that CloudFormation passes to DynamoDB unchanged.
CREATED_WITH = (
    *("KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "BillingMode", "ProvisionedThroughput"),
    *("DeletionProtectionEnabled", "Tags"),
)
Properties = Mapping[str, Any]


def scan(client: Any, table: str) -> Iterator[Attributes]:
    """All items, complete and in no particular order."""
    for page in client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
        yield from page["Items"]


def scanner(client: Any, names: dict[str, str]) -> Callable[[str], Iterable[dict[str, Any]]]:
    """`names` are the physical names of the tables."""
    return lambda table: map(from_attributes, scan(client, names[table]))


def copy_missing(client: Any, source: str, target: str) -> tuple[int, int]:
    """Copies the items that `target` doesn't have. Returns how many were copied, and how many existed.

    An existing item is newer than its copy in `source`, or equal to it.
    """
    copied = kept = 0
    for item in scan(client, source):
        try:
            client.put_item(TableName=target, Item=item, ConditionExpression=ABSENT)
            copied += 1
        except ClientError as error:
            if not is_condition_failure(error):
                raise
            kept += 1
    return copied, kept


def deployed(cloudformation: Any, stack: str) -> dict[str, Properties]:
    """The properties of the stack's tables, by physical name. CloudFormation keeps them even if a table was deleted."""
    resources = cloudformation.get_template(StackName=stack)["TemplateBody"]["Resources"]
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack)
    return {
        each["PhysicalResourceId"]: resources[each["LogicalResourceId"]]["Properties"]
        for page in pages
        for each in page["StackResourceSummaries"]
        if each["ResourceType"] == TABLE
    }


def create_missing(client: Any, tables: Mapping[str, Properties]) -> list[str]:
    """Creates the tables that don't exist, with all their settings, and returns their names.

    CloudFormation compares a deployment with the last one, not with the table, so it wouldn't add a missing setting.
    """
    created = []
    for name, properties in tables.items():
        try:
            client.describe_table(TableName=name)
        except client.exceptions.ResourceNotFoundException:
            client.create_table(TableName=name, **definition(properties))
            client.get_waiter("table_exists").wait(TableName=name)
            expiry, recovery = (properties[f"{each}Specification"] for each in ("TimeToLive", "PointInTimeRecovery"))
            client.update_time_to_live(TableName=name, TimeToLiveSpecification=expiry)
            if recovery["PointInTimeRecoveryEnabled"]:
                client.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification=recovery)
            created.append(name)
    return created


def definition(properties: Properties) -> dict[str, Any]:
    """The properties of the stack's table, with DynamoDB's names."""
    found = {name: properties[name] for name in CREATED_WITH if name in properties}
    if "SSESpecification" in properties:
        found["SSESpecification"] = {"Enabled": properties["SSESpecification"]["SSEEnabled"]}
    if "StreamSpecification" in properties:
        found["StreamSpecification"] = {"StreamEnabled": True, **properties["StreamSpecification"]}
    return found
