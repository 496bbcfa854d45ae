"""Pages of one partition for the API: bounded, in either order, and continued where the last one ended."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runledger.platform.availability import reaching
from runledger.tables.attributes import Attributes
from runledger.tables.reads import ALWAYS, Partition, Span, query_arguments, query_results

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

__all__ = ["ALWAYS", "Key", "Page", "Partition", "Span", "count", "page", "stream"]

Key = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    items: Sequence[Attributes]
    next_key: Key | None


def page(
    client: "DynamoDBClient",
    partition: Partition,
    span: Span = ALWAYS,
    *,
    newest_first: bool = True,
    limit: int,
    start: Key | None = None,
) -> Page:
    """At most `limit` items; `start` is the `next_key` of the page before."""
    arguments = query_arguments(partition, span) | {"Limit": limit, "ScanIndexForward": not newest_first}
    if start:
        arguments["ExclusiveStartKey"] = {name: {"S": value} for name, value in start.items()}
    with reaching(partition.table):
        result = client.query(**arguments)
    ended_at = result.get("LastEvaluatedKey")
    return Page(
        items=result["Items"],
        next_key={name: value["S"] for name, value in ended_at.items()} if ended_at else None,
    )


def count(client: "DynamoDBClient", partition: Partition, span: Span = ALWAYS) -> int:
    """Reads the items, but DynamoDB returns only their number."""
    return sum(
        result["Count"] for result in query_results(client, query_arguments(partition, span) | {"Select": "COUNT"})
    )


def stream(
    client: "DynamoDBClient", partition: Partition, span: Span, *, attributes: Sequence[str]
) -> Iterator[Sequence[Attributes]]:
    """Pages as large as DynamoDB makes them, newest first, with these attributes only. One is in memory at a time."""
    arguments = query_arguments(partition, span) | {"ScanIndexForward": False}
    arguments["ProjectionExpression"] = ", ".join(f"#{name}" for name in attributes)
    arguments["ExpressionAttributeNames"] |= {f"#{name}": name for name in attributes}
    for result in query_results(client, arguments):
        yield result["Items"]
