"""Records of DynamoDB Streams. Each is a change of one item."""

from collections.abc import Mapping
from typing import Any

from runledger.tables.attributes import from_attributes

Record = Mapping[str, Any]
Item = Mapping[str, Any]
CHANGES = ("INSERT", "MODIFY")


def is_change(record: Record) -> bool:
    """False if the item was deleted or has expired."""
    return record["eventName"] in CHANGES


def table_of(record: Record, tables: Mapping[str, str]) -> str:
    """`tables` maps physical table names to names in the schema.

    The ARN of a stream is `arn:aws:dynamodb:REGION:ACCOUNT:table/NAME/stream/TIME`.
    """
    return tables[record["eventSourceARN"].split("/")[1]]


def images(record: Record) -> tuple[Item, Item]:
    """The item before and after the change. A new item was empty before."""
    change = record["dynamodb"]
    return from_attributes(change.get("OldImage") or {}), from_attributes(change["NewImage"])
