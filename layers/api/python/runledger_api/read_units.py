"""Counts the DynamoDB read units that a request consumes, for the X-Read-Units header."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

READ_OPERATIONS = ("GetItem", "BatchGetItem", "Query")


class ReadUnitMeter:
    """Registers event handlers on the client, so that the table classes need no metering code."""

    def __init__(self, client: "DynamoDBClient") -> None:
        self._units = 0.0
        for operation in READ_OPERATIONS:
            self._register(client, f"provide-client-params.dynamodb.{operation}", _request_consumed_capacity)
            self._register(client, f"after-call.dynamodb.{operation}", self._add_units)

    def reset(self) -> None:
        self._units = 0.0

    @property
    def units(self) -> float:
        return self._units

    def _register(self, client: "DynamoDBClient", event: str, handler: Callable[..., Any]) -> None:
        """Replaces the handler of an earlier meter: a client may outlive its meter."""
        client.meta.events.unregister(event, unique_id=event)
        client.meta.events.register(event, handler, unique_id=event)

    def _add_units(self, parsed: dict[str, Any], **_: Any) -> None:
        consumed = parsed.get("ConsumedCapacity") or ()
        for each in consumed if isinstance(consumed, list) else (consumed,):
            self._units += each.get("CapacityUnits", 0.0) if each else 0.0


def _request_consumed_capacity(params: dict[str, Any], **_: Any) -> dict[str, Any]:
    return {**params, "ReturnConsumedCapacity": "TOTAL"}
