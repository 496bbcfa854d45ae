"""Items behind an index that holds only their keys: a query of keys, and the items by the hundred."""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from runledger.model.errors import UnavailableError
from runledger.tables import schema
from runledger.tables.attributes import Attributes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MOST_IN_A_BATCH = 100
# In seconds, at most: DynamoDB leaves keys unprocessed when it throttles, and asking again at once makes that worse.
PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)


def indexed(
    client: "DynamoDBClient", table: str, index: schema.Index, partition: str, *, before: str | None = None
) -> Iterator[list[Attributes]]:
    """Pages of items in order of the index; an item that has just left it is still among them: look at it."""
    condition, values = f"#partition = :partition{' AND #sort < :before' if before else ''}", {":partition": partition}
    names = {"#partition": index.partition} | ({"#sort": index.sort} if before else {})
    pages = client.get_paginator("query").paginate(
        TableName=table,
        IndexName=index.name,
        KeyConditionExpression=condition,
        ExpressionAttributeNames=names,
        ExpressionAttributeValues={
            name: {"S": value} for name, value in (values | ({":before": before} if before else {})).items()
        },
        PaginationConfig={"PageSize": MOST_IN_A_BATCH},
    )
    for page in pages:
        keys = [(item[schema.PARTITION]["S"], item[schema.SORT]["S"]) for item in page["Items"]]
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
        answer = client.batch_get_item(RequestItems={table: {"Keys": wanted}})
        yield from answer["Responses"][table]
        left = answer["UnprocessedKeys"].get(table)
        if not left:
            return
        wanted = [dict(key) for key in left["Keys"]]
        if seconds is not None:
            pause(seconds * random.uniform(0.5, 1))  # noqa: S311 - spreads retries, and hides nothing
    raise UnavailableError(f"{table}: {len(wanted)} keys are still unprocessed")
