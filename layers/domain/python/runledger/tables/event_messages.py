"""notifications: the open messages of each event, by subscription, and hourly message counts of subscriptions.

PK                                         SK
{installation}#deliveries#{event}          v
{installation}#hours#{subscription}        {hour}
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.tables import schema
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

HOURS_KEPT_DAYS = 2
EXISTS = f"attribute_exists({schema.PARTITION})"
# A set of ids instead of a number, so that a repeated message is counted once.
FITS = "attribute_not_exists(#message_ids) OR contains(#message_ids, :message_id) OR size(#message_ids) < :most"


class EventMessagesTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._table = Table(client, name, label="notifications")
        self._retention_days = retention_days

    def expect(
        self, installation_id: int, event_id: str, *, position: str, subscription_ids: Iterable[str], at: str
    ) -> set[str]:
        """Stores which subscriptions get a message, and returns those whose message is still open.

        Call this before creating messages. A repeated call doesn't change the stored set, although subscriptions may
        have been changed or deleted since: without all messages of the set, the event would never be delivered.
        """
        pending = set(subscription_ids)
        item = {
            **_key(installation_id, event_id),
            "position": position,
            "pending": pending,
            schema.EXPIRY: times.expiry(at, self._retention_days),
        }
        if self._table.put_if_absent(item):
            return pending
        stored = self._table.read(_key(installation_id, event_id)) or {}
        return set(stored.get("pending", ()))

    def position(self, installation_id: int, event_id: str) -> str | None:
        """The position of the event in the feed. None for a message that belongs to no event."""
        found = self._table.read(_key(installation_id, event_id))
        return found["position"] if found else None

    def ended(self, installation_id: int, event_id: str, subscription_id: str) -> bool:
        """Whether this was the last open message of the event. Repeatable."""
        left = self._table.update_if(
            _key(installation_id, event_id),
            discard={"pending": {subscription_id}},
            condition=EXISTS,
            returning="ALL_NEW",
        )
        return left is not None and not left.get("pending")

    def count_in_hour(self, installation_id: int, subscription_id: str, message_id: str, *, at: str, most: int) -> bool:
        """False, without counting it, if the subscription has reached its limit for this hour."""
        key: dict[str, Any] = {
            schema.PARTITION: schema.hours_key(installation_id, subscription_id),
            schema.SORT: times.hour_of(at),
        }
        counted = self._table.update_if(
            key,
            add={"message_ids": {message_id}},
            fill={schema.EXPIRY: times.expiry(at, HOURS_KEPT_DAYS)},
            condition=FITS,
            given={"message_id": message_id, "most": most},
        )
        return counted is not None


def _key(installation_id: int, event_id: str) -> dict[str, str]:
    return {schema.PARTITION: schema.deliveries_key(installation_id, event_id), schema.SORT: schema.ONLY}
