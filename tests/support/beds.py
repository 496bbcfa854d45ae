"""Tables on a test bed, made from the synthesised template: a drift of the schema breaks the tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import boto3
from moto import mock_aws
from runledger.tables import schema
from runledger.tables.attributes import from_attributes

from tests.support.synthesis import Template

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# moto would discard boto3's session in every test, and with it the service descriptions that it has parsed.
KEEP_SESSION: Any = {"core": {"reset_boto3_session": False}}
CREATED_WITH = ("KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "BillingMode")


def create_tables(client: "DynamoDBClient", template: Template) -> None:
    """The physical names are the names in `schema`."""
    for table in schema.TABLES:
        output = "".join(word.capitalize() for word in table.name.split("_")) + "Table"
        properties = template["Resources"][template["Outputs"][output]["Value"]["Ref"]]["Properties"]
        client.create_table(
            TableName=table.name, **{name: properties[name] for name in CREATED_WITH if name in properties}
        )


@contextmanager
def mocked(template: Template) -> Iterator["DynamoDBClient"]:
    """Tables on moto, which has EC2 and ECS as well."""
    with mock_aws(config=KEEP_SESSION):
        client = boto3.client("dynamodb")
        create_tables(client, template)
        yield client


def delete_tables(client: "DynamoDBClient") -> None:
    for table in schema.TABLES:
        client.delete_table(TableName=table.name)


def items(client: "DynamoDBClient", table: str) -> list[dict[str, Any]]:
    """All of a small table, in order of its keys."""
    pages: Iterator[Any] = iter(client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True))
    found = [from_attributes(item) for page in pages for item in page["Items"]]
    return sorted(found, key=lambda item: (item["PK"], item["SK"]))


def dump(client: "DynamoDBClient") -> dict[str, list[dict[str, Any]]]:
    return {table.name: items(client, table.name) for table in schema.TABLES}


def empty(client: "DynamoDBClient") -> None:
    for table, found in dump(client).items():
        for item in found:
            client.delete_item(TableName=table, Key={"PK": {"S": item["PK"]}, "SK": {"S": item["SK"]}})
