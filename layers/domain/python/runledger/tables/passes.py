"""Requests and results of the reconciler's passes, stored in runners, sorted by time."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.platform.availability import reaching
from runledger.tables import schema
from runledger.tables.attributes import from_attributes, to_attributes
from runledger.tables.updates import update

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NEXT = "next_pass"
KEPT_DAYS = 14


class PassesTable:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._client = client
        self._name = name

    @reaching("runners")
    def note(self, pass_id: str, *, at: str, **about: Any) -> None:
        """Adds attributes. Summary and findings are stored as JSON, because they are always read as a whole."""
        values = {
            name: json.dumps(value) if isinstance(value, Mapping | list) else value for name, value in about.items()
        }
        put = values | {"id": pass_id, schema.EXPIRY: times.expiry(at, KEPT_DAYS)}
        update(self._client, self._name, _key(pass_id), put=put)

    @reaching("runners")
    def get(self, pass_id: str) -> dict[str, Any] | None:
        answer = self._client.get_item(TableName=self._name, Key=to_attributes(_key(pass_id)), ConsistentRead=True)
        return _attributes(from_attributes(answer["Item"])) if "Item" in answer else None

    @reaching("runners")
    def newest(self, limit: int, *, before: str | None = None) -> list[dict[str, Any]]:
        """`before` is the id of the last pass of the previous page."""
        values = {":passes": {"S": schema.PASSES}} | ({":before": {"S": before}} if before else {})
        answer = self._client.query(
            TableName=self._name,
            KeyConditionExpression="PK = :passes" + (" AND SK < :before" if before else ""),
            ExpressionAttributeValues=values,
            ScanIndexForward=False,
            Limit=limit,
        )
        return [_attributes(from_attributes(item)) for item in answer["Items"]]

    @reaching("runners")
    def first_part(self, kind: str) -> str | None:
        """The part with which the next pass of this kind starts. None for the usual order."""
        key = to_attributes({schema.PARTITION: NEXT, schema.SORT: kind})
        answer = self._client.get_item(TableName=self._name, Key=key, ConsistentRead=True)
        return from_attributes(answer.get("Item", {})).get("begin_with")

    @reaching("runners")
    def set_first_part(self, kind: str, part: str | None) -> None:
        key = {schema.PARTITION: NEXT, schema.SORT: kind}
        if part:
            update(self._client, self._name, key, put={"begin_with": part})
        else:
            self._client.delete_item(TableName=self._name, Key=to_attributes(key))


def _key(pass_id: str) -> dict[str, str]:
    return {schema.PARTITION: schema.PASSES, schema.SORT: pass_id}


def _attributes(item: dict[str, Any]) -> dict[str, Any]:
    about = {name: value for name, value in item.items() if name not in (schema.PARTITION, schema.SORT, schema.EXPIRY)}
    return about | {name: json.loads(about[name]) for name in ("summary", "findings") if name in about}
