"""A DynamoDB table: reads and writes of single items, queries of one partition, and batches of items by their keys.

Temporary errors of DynamoDB are raised as UnavailableError.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any, Unpack

from botocore.exceptions import ClientError

from runledger.model.errors import UnavailableError
from runledger.platform.availability import translate_errors
from runledger.tables import schema
from runledger.tables.attributes import Attributes, from_attributes, is_condition_failure, to_attributes
from runledger.tables.pages import ALWAYS, Key, Page, Partition, Span, query_arguments
from runledger.tables.updates import ABSENT, Changes, advance_arguments, claim_arguments, update_arguments

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MOST_IN_A_BATCH = 100
# Maximum pauses, in seconds. DynamoDB leaves keys unprocessed when it throttles, and an immediate retry makes that
# worse.
PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)

ItemKey = Mapping[str, str]


class Table:
    """`label` names the table in errors; the default is its physical name."""

    __slots__ = ("client", "label", "name")

    def __init__(self, client: "DynamoDBClient", name: str, *, label: str | None = None) -> None:
        self.client = client
        self.name = name
        self.label = label or name

    def get(self, key: ItemKey, *, consistent: bool = True) -> Attributes | None:
        with translate_errors(self.label):
            response = self.client.get_item(TableName=self.name, Key=to_attributes(key), ConsistentRead=consistent)
        return response.get("Item")

    def read(self, key: ItemKey, *, consistent: bool = True) -> dict[str, Any] | None:
        """The item as Python values."""
        item = self.get(key, consistent=consistent)
        return None if item is None else from_attributes(item)

    def put(self, item: Attributes, **condition: Any) -> None:
        with translate_errors(self.label):
            self.client.put_item(TableName=self.name, Item=item, **condition)

    def put_if_absent(self, item: Mapping[str, Any]) -> bool:
        """False if an item with its key exists."""
        try:
            self.put(to_attributes(item), ConditionExpression=ABSENT)
        except ClientError as error:
            if not is_condition_failure(error):
                raise
            return False
        return True

    def delete(self, key: ItemKey, **condition: Any) -> None:
        with translate_errors(self.label):
            self.client.delete_item(TableName=self.name, Key=to_attributes(key), **condition)

    def update(self, key: ItemKey, **changes: Unpack[Changes]) -> dict[str, Any]:
        """For the changes, see `update_arguments`."""
        arguments = update_arguments(**changes)
        with translate_errors(self.label):
            response = self.client.update_item(TableName=self.name, Key=to_attributes(key), **arguments)
        return from_attributes(response.get("Attributes", {}))

    def update_if(self, key: ItemKey, **changes: Unpack[Changes]) -> dict[str, Any] | None:
        """None if the condition fails."""
        held, item = self.update_or_read(key, **changes)
        return item if held else None

    def update_or_read(self, key: ItemKey, **changes: Unpack[Changes]) -> tuple[bool, dict[str, Any]]:
        """Whether the condition held, and the result of the update. If the condition fails, the result is the stored
        item; with DynamoDB Local it is empty.
        """
        try:
            return True, self.update(key, **changes)
        except ClientError as error:
            if not is_condition_failure(error):
                raise
            stored: Attributes = error.response.get("Item", {})  # type: ignore[assignment]
            return False, from_attributes(stored)

    def advance(self, key: ItemKey, status: StrEnum, **changes: Any) -> dict[str, Any] | None:
        """An update that also sets `status`. None, without any change, if the stored status has a higher precedence."""
        return self.update_if(key, **advance_arguments(status, **changes))

    def claim(self, key: ItemKey, *, at: str, until: str, expiry: int) -> bool:
        """A short exclusive right to refresh an item from GitHub. False if another process has it."""
        return self.update_if(key, **claim_arguments(at=at, until=until, expiry=expiry)) is not None

    def page(
        self,
        partition: Partition,
        span: Span = ALWAYS,
        *,
        newest_first: bool = True,
        limit: int,
        start: Key | None = None,
        consistent: bool = False,
    ) -> Page[Attributes]:
        """At most `limit` items; `start` is the `next_key` of the page before."""
        arguments = query_arguments(partition, span) | {"Limit": limit, "ScanIndexForward": not newest_first}
        if consistent:
            arguments["ConsistentRead"] = True
        if start:
            arguments["ExclusiveStartKey"] = {name: {"S": value} for name, value in start.items()}
        with translate_errors(self.label):
            result = self.client.query(TableName=self.name, **arguments)
        ended_at = result.get("LastEvaluatedKey")
        return Page(
            items=result["Items"],
            next_key={name: value["S"] for name, value in ended_at.items()} if ended_at else None,
        )

    def items(self, partition: Partition, *, consistent: bool = False) -> Iterator[Attributes]:
        """Every item of the partition, in order."""
        arguments = query_arguments(partition, ALWAYS) | ({"ConsistentRead": True} if consistent else {})
        for result in self._results(arguments):
            yield from result["Items"]

    def count(self, partition: Partition, span: Span = ALWAYS) -> int:
        """Reads the items, but DynamoDB returns only their number."""
        return sum(result["Count"] for result in self._results(query_arguments(partition, span) | {"Select": "COUNT"}))

    def stream(
        self,
        partition: Partition,
        span: Span,
        *,
        attributes: Sequence[str],
        where: Mapping[str, str] | None = None,
        below: Mapping[str, str] | None = None,
    ) -> Iterator[Sequence[Attributes]]:
        """Pages as large as DynamoDB makes them, newest first, with these attributes only, one in memory at a time.

        DynamoDB reads all items, and then drops those whose attributes aren't equal to `where` and less than `below`.
        """
        arguments = query_arguments(partition, span) | {"ScanIndexForward": False}
        arguments["ProjectionExpression"] = ", ".join(f"#{name}" for name in attributes)
        arguments["ExpressionAttributeNames"] |= {f"#{name}": name for name in attributes}
        if compared := {**(where or {}), **(below or {})}:
            conditions = [
                *(f"#{name} = :{name}" for name in where or ()),
                *(f"#{name} < :{name}" for name in below or ()),
            ]
            arguments["FilterExpression"] = " AND ".join(conditions)
            arguments["ExpressionAttributeNames"] |= {f"#{name}": name for name in compared}
            arguments["ExpressionAttributeValues"] |= {f":{name}": {"S": value} for name, value in compared.items()}
        for result in self._results(arguments):
            yield result["Items"]

    def indexed(self, partition: Partition, *, before: str | None = None) -> Iterator[list[Attributes]]:
        """Pages of whole items in the order of the index. Most indexes hold keys only.

        An item that has just left the index may be included: check it.
        """
        for result in self._results(query_arguments(partition, Span(until=before)) | {"Limit": MOST_IN_A_BATCH}):
            yield self.follow(result["Items"])

    def follow(self, indexed: Iterable[Attributes]) -> list[Attributes]:
        """The items whose keys an index holds. Missing items are omitted."""
        keys = [_key_of(item) for item in indexed]
        found = self.by_key(keys)
        return [found[key] for key in keys if key in found]

    def by_key(
        self,
        keys: Iterable[tuple[str, str]],
        *,
        consistent: bool = False,
        pause: Callable[[float], None] = time.sleep,
    ) -> Mapping[tuple[str, str], Attributes]:
        """Missing items are omitted. Raises UnavailableError if DynamoDB leaves keys unprocessed after all pauses."""
        found: dict[tuple[str, str], Attributes] = {}
        left = iter(dict.fromkeys(keys))
        while batch := tuple(islice(left, MOST_IN_A_BATCH)):
            found |= {_key_of(item): item for item in self._batch(batch, consistent, pause)}
        return found

    def _results(self, arguments: dict[str, Any]) -> Iterator[Any]:
        """Every page of a query."""
        while True:
            with translate_errors(self.label):
                result = self.client.query(TableName=self.name, **arguments)
            yield result
            if "LastEvaluatedKey" not in result:
                return
            arguments = {**arguments, "ExclusiveStartKey": result["LastEvaluatedKey"]}

    def _batch(
        self, keys: Sequence[tuple[str, str]], consistent: bool, pause: Callable[[float], None]
    ) -> Iterator[Attributes]:
        wanted: list[Attributes] = [{schema.PARTITION: {"S": pk}, schema.SORT: {"S": sk}} for pk, sk in keys]
        for seconds in (*PAUSES, None):
            request: Any = {"Keys": wanted} | ({"ConsistentRead": True} if consistent else {})
            with translate_errors(self.label):
                result = self.client.batch_get_item(RequestItems={self.name: request})
            yield from result["Responses"][self.name]
            left = result["UnprocessedKeys"].get(self.name)
            if not left:
                return
            wanted = [dict(key) for key in left["Keys"]]
            if seconds is not None:
                pause(seconds * random.uniform(0.5, 1))  # noqa: S311 - only spreads retries
        raise UnavailableError(f"{self.name}: {len(wanted)} keys are still unprocessed")


def _key_of(item: Attributes) -> tuple[str, str]:
    return item[schema.PARTITION]["S"], item[schema.SORT]["S"]
