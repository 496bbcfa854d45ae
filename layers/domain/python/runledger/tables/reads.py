"""Queries of one partition, and items by their keys: most indexes hold keys only, so one follows the other."""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from runledger.model.errors import UnavailableError
from runledger.platform.availability import reaching
from runledger.tables import schema
from runledger.tables.attributes import Attributes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MOST_IN_A_BATCH = 100
# At most, in seconds. DynamoDB leaves keys unprocessed when it throttles, and an immediate retry makes that worse.
PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)


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


def query_arguments(partition: Partition, span: Span) -> dict[str, Any]:
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


def query_results(client: "DynamoDBClient", arguments: dict[str, Any]) -> Iterator[Any]:
    """Every page of a query."""
    while True:
        with reaching(arguments["TableName"]):
            result = client.query(**arguments)
        yield result
        if "LastEvaluatedKey" not in result:
            return
        arguments = {**arguments, "ExclusiveStartKey": result["LastEvaluatedKey"]}


def indexed(
    client: "DynamoDBClient", table: str, index: schema.Index, partition: str, *, before: str | None = None
) -> Iterator[list[Attributes]]:
    """Pages of items in the order of the index. An item that has just left the index may be included: check it."""
    arguments = query_arguments(Partition(table=table, value=partition, index=index), Span(until=before))
    for result in query_results(client, arguments | {"Limit": MOST_IN_A_BATCH}):
        keys = [(item[schema.PARTITION]["S"], item[schema.SORT]["S"]) for item in result["Items"]]
        found = by_key(client, table, keys)
        yield [found[key] for key in keys if key in found]


def by_key(
    client: "DynamoDBClient",
    table: str,
    keys: Iterable[tuple[str, str]],
    *,
    pause: Callable[[float], None] = time.sleep,
) -> Mapping[tuple[str, str], Attributes]:
    """Missing items are omitted. UnavailableError if DynamoDB leaves keys unprocessed after all pauses."""
    found: dict[tuple[str, str], Attributes] = {}
    left = iter(dict.fromkeys(keys))
    while batch := tuple(islice(left, MOST_IN_A_BATCH)):
        items = _batch(client, table, batch, pause)
        found |= {(item[schema.PARTITION]["S"], item[schema.SORT]["S"]): item for item in items}
    return found


def _batch(
    client: "DynamoDBClient", table: str, keys: Sequence[tuple[str, str]], pause: Callable[[float], None]
) -> Iterator[Attributes]:
    wanted: list[Attributes] = [{schema.PARTITION: {"S": pk}, schema.SORT: {"S": sk}} for pk, sk in keys]
    for seconds in (*PAUSES, None):
        result = client.batch_get_item(RequestItems={table: {"Keys": wanted}})
        yield from result["Responses"][table]
        left = result["UnprocessedKeys"].get(table)
        if not left:
            return
        wanted = [dict(key) for key in left["Keys"]]
        if seconds is not None:
            pause(seconds * random.uniform(0.5, 1))  # noqa: S311 - spreads retries, and hides nothing
    raise UnavailableError(f"{table}: {len(wanted)} keys are still unprocessed")


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
