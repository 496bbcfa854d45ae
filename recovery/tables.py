"""Whole tables: every item of one, and the items that a restored copy has and the live table lacks."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from botocore.exceptions import ClientError
from runledger.tables import schema
from runledger.tables.attributes import Attributes, from_attributes, is_condition_failure
from runledger.tables.schema import Index, TableSchema

ABSENT = "attribute_not_exists(PK)"


def scan(client: Any, table: str) -> Iterator[Attributes]:
    """In no order, with whole items."""
    for page in client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
        yield from page["Items"]


def scanner(client: Any, names: dict[str, str]) -> Callable[[str], Iterable[dict[str, Any]]]:
    """`names` are the physical names of the tables."""
    return lambda table: map(from_attributes, scan(client, names[table]))


def copy_missing(client: Any, source: str, target: str) -> tuple[int, int]:
    """Copies the items that `target` doesn't have, and returns how many were copied and how many it had.

    An item that exists is newer than its copy, or the same.
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


def create_missing(client: Any, names: dict[str, str]) -> list[str]:
    """Creates the tables that don't exist, under their physical names, and returns those."""
    created = []
    for table in schema.TABLES:
        name = names[table.name]
        try:
            client.describe_table(TableName=name)
        except client.exceptions.ResourceNotFoundException:
            client.create_table(TableName=name, **definition(table))
            client.get_waiter("table_exists").wait(TableName=name)
            expiry = {"Enabled": True, "AttributeName": schema.EXPIRY}
            client.update_time_to_live(TableName=name, TimeToLiveSpecification=expiry)
            created.append(name)
    return created


def definition(table: TableSchema) -> dict[str, Any]:
    """As the stack defines it with the default settings."""
    keys = [schema.PARTITION, schema.SORT]
    keys += [name for index in table.indexes for name in (index.partition, index.sort)]
    found: dict[str, Any] = {
        "KeySchema": _keys(schema.PARTITION, schema.SORT),
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in dict.fromkeys(keys)],
        "BillingMode": "PAY_PER_REQUEST",
    }
    return found | ({"GlobalSecondaryIndexes": list(map(_index, table.indexes))} if table.indexes else {})


def _index(index: Index) -> dict[str, Any]:
    included = {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(index.include)}
    return {
        "IndexName": index.name,
        "KeySchema": _keys(index.partition, index.sort),
        "Projection": included if index.include else {"ProjectionType": "KEYS_ONLY"},
    }


def _keys(partition: str, sort: str) -> list[dict[str, str]]:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]
