"""DynamoDB in memory: the client calls that the domain makes, with the real engine's responses and errors.

It behaves as moto and DynamoDB Local do (`test_engine.py` compares them) at a hundredth of their time, and its state is
saved and restored in microseconds. A parameter that is not implemented is a TypeError, never ignored.
"""
# ruff: noqa: N803 -- parameters are named as botocore names them

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any, ParamSpec

from botocore.exceptions import ClientError
from runledger.tables import schema

from tests.simulation import paths
from tests.simulation.checks import (
    NO_CONDITION,
    NONE,
    Call,
    Response,
    check_condition,
    check_return_values,
    check_targets,
    checked_values,
    exact_key,
    guard_of,
    returned_attributes,
    sized,
    with_attributes,
)
from tests.simulation.conditions import condition
from tests.simulation.queries import Source, key_condition, page, source
from tests.simulation.storage import Snapshot, Storage, check_index_keys, key_of, key_values
from tests.simulation.updates import Update, update
from tests.simulation.values import Rejected, Value, copied, normal

P = ParamSpec("P")

MOST_KEYS = 100
NO_UPDATE = Update()


def operation(name: str) -> Callable[[Callable[P, Response]], Callable[P, Response]]:
    """Rejections reach the caller as botocore's errors."""

    def decorate(method: Callable[P, Response]) -> Callable[P, Response]:
        @wraps(method)
        def call(*arguments: P.args, **keywords: P.kwargs) -> Response:
            try:
                return method(*arguments, **keywords)
            except Rejected as rejected:
                response: Any = {
                    "Error": {"Code": rejected.code, "Message": rejected.message},
                    "ResponseMetadata": {"HTTPStatusCode": 400},
                    **rejected.response,
                }
                raise ClientError(response, name) from None

        return call

    return decorate


class Engine:
    def __init__(self, tables: Iterable[schema.TableSchema] = schema.TABLES) -> None:
        self.storage = Storage(tables)
        # The number of a table's latest writes that an eventually consistent read misses; a scheduler may replace this.
        self.lag: Callable[[str, str], int] = lambda _operation, _table: 0

    def snapshot(self) -> Snapshot:
        return self.storage.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        self.storage.restore(snapshot)

    @operation("GetItem")
    def get_item(self, *, TableName: str, Key: Call, ConsistentRead: bool = False) -> Response:
        self.storage.table(TableName)
        lag = 0 if ConsistentRead else self.lag("get_item", TableName)
        item = self.storage.get(TableName, exact_key(Key), lag=lag)
        return {} if item is None else {"Item": copied(item)}

    @operation("PutItem")
    def put_item(
        self,
        *,
        TableName: str,
        Item: Call,
        ConditionExpression: str | None = None,
        ExpressionAttributeNames: Mapping[str, str] = NONE,
        ExpressionAttributeValues: Call = NONE,
        ReturnValues: str = "NONE",
        ReturnValuesOnConditionCheckFailure: str = "NONE",
    ) -> Response:
        table = self.storage.table(TableName)
        item = {name: normal(value) for name, value in Item.items()}
        key = key_of(item)
        guard = guard_of(ConditionExpression)
        values = checked_values(guard, ExpressionAttributeNames, ExpressionAttributeValues)
        check_return_values(ReturnValues, "NONE", "ALL_OLD")
        check_index_keys(table, item)
        stored = sized(item, "Item size has exceeded the maximum allowed size")
        before = self.storage.get(TableName, key)
        check_condition(guard, before, ExpressionAttributeNames, values, ReturnValuesOnConditionCheckFailure)
        self.storage.write(TableName, key, stored)
        return with_attributes(before if ReturnValues == "ALL_OLD" else None)

    @operation("DeleteItem")
    def delete_item(
        self,
        *,
        TableName: str,
        Key: Call,
        ConditionExpression: str | None = None,
        ExpressionAttributeNames: Mapping[str, str] = NONE,
        ExpressionAttributeValues: Call = NONE,
        ReturnValues: str = "NONE",
        ReturnValuesOnConditionCheckFailure: str = "NONE",
    ) -> Response:
        self.storage.table(TableName)
        key, guard = exact_key(Key), guard_of(ConditionExpression)
        values = checked_values(guard, ExpressionAttributeNames, ExpressionAttributeValues)
        check_return_values(ReturnValues, "NONE", "ALL_OLD")
        before = self.storage.get(TableName, key)
        check_condition(guard, before, ExpressionAttributeNames, values, ReturnValuesOnConditionCheckFailure)
        if before is not None:
            self.storage.write(TableName, key, None)
        return with_attributes(before if ReturnValues == "ALL_OLD" else None)

    @operation("UpdateItem")
    def update_item(
        self,
        *,
        TableName: str,
        Key: Call,
        UpdateExpression: str | None = None,
        ConditionExpression: str | None = None,
        ExpressionAttributeNames: Mapping[str, str] = NONE,
        ExpressionAttributeValues: Call = NONE,
        ReturnValues: str = "NONE",
        ReturnValuesOnConditionCheckFailure: str = "NONE",
    ) -> Response:
        table = self.storage.table(TableName)
        key, guard = exact_key(Key), guard_of(ConditionExpression)
        change = NO_UPDATE if UpdateExpression is None else update(UpdateExpression)
        names = ExpressionAttributeNames
        values = checked_values(guard, names, ExpressionAttributeValues, change)
        check_return_values(ReturnValues, "NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW")
        targets = change.targets(names)
        check_targets(targets)
        before = self.storage.get(TableName, key)
        check_condition(guard, before, names, values, ReturnValuesOnConditionCheckFailure)
        after = change.apply(before if before is not None else key_values(key), names, values)
        check_index_keys(table, after)
        stored = sized(after, "Item size to update has exceeded the maximum allowed size")
        self.storage.write(TableName, key, stored)
        return with_attributes(returned_attributes(ReturnValues, before, stored, targets))

    @operation("Query")
    def query(
        self,
        *,
        TableName: str,
        KeyConditionExpression: str,
        IndexName: str | None = None,
        FilterExpression: str | None = None,
        ProjectionExpression: str | None = None,
        ExpressionAttributeNames: Mapping[str, str] = NONE,
        ExpressionAttributeValues: Call = NONE,
        ScanIndexForward: bool = True,
        ConsistentRead: bool = False,
        Select: str | None = None,
        Limit: int | None = None,
        ExclusiveStartKey: Call | None = None,
    ) -> Response:
        of = source(self.storage.table(TableName), IndexName)
        if ConsistentRead and of.index:
            raise Rejected("Consistent reads are not supported on global secondary indexes")
        wanted = key_condition(KeyConditionExpression)
        kept = NO_CONDITION if FilterExpression is None else condition(FilterExpression, "FilterExpression")
        shown, shown_names = paths.projection(ProjectionExpression) if ProjectionExpression else ((), frozenset())
        names = ExpressionAttributeNames
        values = checked_values(wanted, names, ExpressionAttributeValues, kept, more_names=shown_names)
        lag = 0 if ConsistentRead else self.lag("query", TableName)
        found = of.matching(self.storage, lag, wanted, names, values)
        items, ended_at = page(found, of, start=ExclusiveStartKey, forward=ScanIndexForward, limit=Limit)
        matching = [of.projected(item) for item in items if kept.holds(item, names, values)]
        response: Response = {"Count": len(matching), "ScannedCount": len(items)}
        if Select != "COUNT":
            chosen = (paths.project(item, shown, names) if shown else item for item in matching)
            response["Items"] = [copied(item) for item in chosen]
        return response | ({"LastEvaluatedKey": copied(ended_at)} if ended_at else {})

    @operation("Scan")
    def scan(self, *, TableName: str, ConsistentRead: bool = False) -> Response:
        """The whole table, for tests that check the result: the domain never scans."""
        del ConsistentRead
        table = self.storage.table(TableName)
        items = sorted(self.storage.seen(TableName).values(), key=Source(table, None).place)
        return {"Items": [copied(item) for item in items], "Count": len(items), "ScannedCount": len(items)}

    @operation("BatchGetItem")
    def batch_get_item(self, *, RequestItems: Mapping[str, Call]) -> Response:
        keys = [(table, exact_key(key)) for table, request in RequestItems.items() for key in request["Keys"]]
        for table, request in RequestItems.items():
            self.storage.table(table)
            if unknown := {*request} - {"Keys", "ConsistentRead"}:
                raise TypeError(f"batch_get_item: {unknown} are not implemented")
        if not 0 < len(keys) <= MOST_KEYS:
            raise Rejected("Too many items requested for the BatchGetItem call")
        if len(set(keys)) != len(keys):
            raise Rejected("Provided list of item keys contains duplicates")
        found: dict[str, list[Mapping[str, Value]]] = {table: [] for table in RequestItems}
        for table, key in keys:
            lag = 0 if RequestItems[table].get("ConsistentRead") else self.lag("batch_get_item", table)
            item = self.storage.get(table, key, lag=lag)
            if item is not None:
                found[table].append(copied(item))
        return {"Responses": found, "UnprocessedKeys": {}}

    def get_paginator(self, operation: str) -> "Paginator":
        return Paginator(getattr(self, operation))


class Paginator:
    """Each page is a call of its own, so that it may fail or be interrupted on its own."""

    def __init__(self, call: Callable[..., Response]) -> None:
        self._call = call

    def paginate(self, *, PaginationConfig: Mapping[str, int] = NONE, **request: Any) -> Iterator[Response]:
        if unknown := {*PaginationConfig} - {"PageSize"}:
            raise TypeError(f"paginate: {unknown} are not implemented")
        if "PageSize" in PaginationConfig:
            request["Limit"] = PaginationConfig["PageSize"]
        while True:
            response = self._call(**request)
            yield response
            if "LastEvaluatedKey" not in response:
                return
            request["ExclusiveStartKey"] = response["LastEvaluatedKey"]
