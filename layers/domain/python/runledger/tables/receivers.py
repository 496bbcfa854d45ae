"""notifications: the health of each subscription's receiver.

PK                        SK
{installation}#health     {subscription}

`failures` counts the failures since the last success. Until `paused_until`, nothing is sent to the receiver.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runledger.tables import schema
from runledger.tables.attributes import from_attributes
from runledger.tables.pages import Partition
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

STILL_PAUSED_AS_READ = "#paused_until = :read_pause"
PAUSED_SHORTER = "attribute_not_exists(#paused_until) OR #paused_until < :paused_until"


class ReceiversTable:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._table = Table(client, name, label="notifications")

    def get(self, installation_id: int, subscription_id: str) -> dict[str, Any]:
        """Empty if there was neither a success nor a failure."""
        return self._table.read(_key(installation_id, subscription_id)) or {}

    def all(self, installation_id: int) -> dict[str, dict[str, Any]]:
        """By subscription."""
        partition = Partition(value=schema.health_key(installation_id))
        found = map(from_attributes, self._table.items(partition))
        return {item[schema.SORT]: item for item in found}

    def take_probe(self, installation_id: int, subscription_id: str, health: Mapping[str, Any], *, until: str) -> bool:
        """Whether this sender makes the one attempt after a pause. The others wait, at most until `until`."""
        taken = self._table.update_if(
            _key(installation_id, subscription_id),
            put={"paused_until": until},
            condition=STILL_PAUSED_AS_READ,
            given={"read_pause": health["paused_until"]},
        )
        return taken is not None

    def succeeded(self, installation_id: int, subscription_id: str, *, at: str, is_slow: bool) -> None:
        self._table.update(
            _key(installation_id, subscription_id),
            put={"failures": 0, "succeeded_at": at, "is_slow": is_slow},
            remove=("paused_until", "last_error"),
        )

    def failed(self, installation_id: int, subscription_id: str, *, at: str, error: str) -> int:
        """The number of failures since the last success."""
        counted = self._table.update(
            _key(installation_id, subscription_id),
            add={"failures": 1},
            put={"failed_at": at, "last_error": error, "is_slow": True},
            returning="ALL_NEW",
        )
        return int(counted["failures"])

    def pause(self, installation_id: int, subscription_id: str, *, until: str) -> None:
        """Never shortens a pause."""
        self._table.update_if(
            _key(installation_id, subscription_id), put={"paused_until": until}, condition=PAUSED_SHORTER
        )

    def forget(self, installation_id: int, subscription_id: str) -> None:
        self._table.delete(_key(installation_id, subscription_id))


def _key(installation_id: int, subscription_id: str) -> dict[str, str]:
    return {schema.PARTITION: schema.health_key(installation_id), schema.SORT: subscription_id}
