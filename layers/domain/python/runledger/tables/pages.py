"""Pages of one partition, for people: bounded, in either order, and continued where the last one ended."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runledger.platform.availability import reaching
from runledger.tables import schema
from runledger.tables.attributes import Attributes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Key = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """From `since` on, and before `until`."""

    since: str | None = None
    until: str | None = None


ALWAYS = Span()


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """Everything under one key of a table, or of one of its indexes, in order of its sort key."""

    table: str
    value: str
    index: schema.Index | None = None


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
    arguments = _arguments(partition, span) | {"Limit": limit, "ScanIndexForward": not newest_first}
    if start:
        arguments["ExclusiveStartKey"] = {name: {"S": value} for name, value in start.items()}
    with reaching(partition.table):
        answer = client.query(**arguments)
    ended_at = answer.get("LastEvaluatedKey")
    return Page(
        items=answer["Items"],
        next_key={name: value["S"] for name, value in ended_at.items()} if ended_at else None,
    )


def count(client: "DynamoDBClient", partition: Partition, span: Span = ALWAYS) -> int:
    """Without a single item on the wire."""
    return sum(answer["Count"] for answer in _answers(client, _arguments(partition, span) | {"Select": "COUNT"}))


def stream(
    client: "DynamoDBClient", partition: Partition, span: Span, *, attributes: Sequence[str]
) -> Iterator[Sequence[Attributes]]:
    """Pages as large as DynamoDB makes them, newest first, with these attributes alone: one is in memory at a time."""
    arguments = _arguments(partition, span) | {"ScanIndexForward": False}
    arguments["ProjectionExpression"] = ", ".join(f"#{name}" for name in attributes)
    arguments["ExpressionAttributeNames"] |= {f"#{name}": name for name in attributes}
    for answer in _answers(client, arguments):
        yield answer["Items"]


def _answers(client: "DynamoDBClient", arguments: dict[str, Any]) -> Iterator[Any]:
    while True:
        with reaching(arguments["TableName"]):
            answer = client.query(**arguments)
        yield answer
        if "LastEvaluatedKey" not in answer:
            return
        arguments = {**arguments, "ExclusiveStartKey": answer["LastEvaluatedKey"]}


def _arguments(partition: Partition, span: Span) -> dict[str, Any]:
    index = partition.index
    condition, values = _within(span)
    names = {"#partition": index.partition if index else schema.PARTITION}
    if condition:
        names["#sort"] = index.sort if index else schema.SORT
    return {
        "TableName": partition.table,
        **({"IndexName": index.name} if index else {}),
        "KeyConditionExpression": "#partition = :partition" + condition,
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": {":partition": {"S": partition.value}, **values},
    }


def _within(span: Span) -> tuple[str, dict[str, Any]]:
    since = {":since": {"S": span.since}} if span.since else {}
    # An instant without its Z is smaller than that instant and larger than every earlier one, as BETWEEN needs it.
    until = {":until": {"S": span.until.removesuffix("Z")}} if span.until else {}
    match bool(since), bool(until):
        case True, True:
            return " AND #sort BETWEEN :since AND :until", since | until
        case True, False:
            return " AND #sort >= :since", since
        case False, True:
            return " AND #sort < :until", until
    return "", {}
