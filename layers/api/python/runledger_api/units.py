"""How many read units a request took, as DynamoDB itself says: what a question costs is part of its answer."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

READS = ("GetItem", "BatchGetItem", "Query")


class Meter:
    """Listens to a client, so that no table needs to know of it."""

    def __init__(self, client: "DynamoDBClient") -> None:
        self._units = 0.0
        for operation in READS:
            self._listen(client, f"provide-client-params.dynamodb.{operation}", _ask)
            self._listen(client, f"after-call.dynamodb.{operation}", self._hear)

    def reset(self) -> None:
        self._units = 0.0

    @property
    def units(self) -> float:
        return self._units

    def _listen(self, client: "DynamoDBClient", event: str, listener: Callable[..., Any]) -> None:
        """In the place of whoever listened before: a client may outlive its meter."""
        client.meta.events.unregister(event, unique_id=event)
        client.meta.events.register(event, listener, unique_id=event)

    def _hear(self, parsed: dict[str, Any], **_: Any) -> None:
        consumed = parsed.get("ConsumedCapacity") or ()
        for each in consumed if isinstance(consumed, list) else (consumed,):
            self._units += each.get("CapacityUnits", 0.0) if each else 0.0


def _ask(params: dict[str, Any], **_: Any) -> dict[str, Any]:
    return {**params, "ReturnConsumedCapacity": "TOTAL"}
