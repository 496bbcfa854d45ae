"""The state of reading GitHub's delivery log: how far it was read, and which deliveries did not arrive.

Stored in runners, the reconciler's table, under partition keys that are not runner ids.
"""

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.reports import REDELIVERY_DAYS
from runledger.tables import schema
from runledger.tables.attributes import from_attributes, to_attributes
from runledger.tables.pages import Partition
from runledger.tables.table import Table
from runledger.tables.updates import new_owner

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LOG = "delivery_log"
LOST = "lost_deliveries"
KEPT_DAYS = REDELIVERY_DAYS + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All deliveries up to `covered_to` have been read. Reading that was interrupted continues at `cursor`, down to
    `covered_to`; `newest` is the newest delivery that was read.
    """

    covered_to: str = ""
    newest: str = ""
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LostDelivery:
    """A delivery that didn't arrive.

    `asked` counts the redelivery requests that GitHub responded to, and `asked_at` is the time of the last one.
    `tried_at` is the time of the last request, with or without a response.
    """

    guid: str
    delivery_id: int
    delivered_at: str
    event: str
    asked: int = 0
    asked_at: str | None = None
    tried_at: str | None = None
    status_code: int = 0  # of the newest attempt; 0 if there was no response
    installation_id: int | None = None


class LostDeliveries:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._table = Table(client, name, label="runners")

    def reading(self) -> Reading:
        stored = self._table.read(_key(LOG)) or {}
        if "read_to" in stored:
            return Reading()  # an earlier version stored ids: the log is read once from its start
        return Reading(**{name: stored[name] for name in ("covered_to", "newest", "cursor") if name in stored})

    def save_reading(self, reading: Reading) -> None:
        """Overlapping passes may read the same rows twice, which is harmless."""
        values = {"covered_to": reading.covered_to or None, "newest": reading.newest or None, "cursor": reading.cursor}
        self._table.put(to_attributes(_key(LOG) | values))

    def store(self, lost: LostDelivery) -> None:
        """Keeps the newest row of a GUID, which is the one to redeliver, and the number of attempts."""
        self._table.update(
            _key(LOST, lost.guid),
            put={
                "delivery_id": lost.delivery_id,
                "status_code": lost.status_code,
                schema.EXPIRY: times.expiry(lost.delivered_at, KEPT_DAYS),
            },
            fill={
                "guid": lost.guid,
                "delivered_at": lost.delivered_at,
                "event": lost.event,
                "installation_id": lost.installation_id,
                "asked": 0,
            },
        )

    def note_arrival(self, guid: str, *, at: str) -> None:
        """The item stays until it expires: a later pass may read the failed row again."""
        put = {"arrived": True, schema.EXPIRY: times.expiry(at, KEPT_DAYS)}
        self._table.update(_key(LOST, guid), put=put)

    def all(self) -> Iterator[LostDelivery]:
        names = [each.name for each in fields(LostDelivery)]
        for item in map(from_attributes, self._table.items(Partition(value=LOST))):
            if not item.get("arrived"):
                yield LostDelivery(**{name: item[name] for name in names if name in item})

    def count_attempt(self, lost: LostDelivery, *, at: str) -> bool:
        """False if another pass has made this attempt. A retry by the SDK after a lost response is True."""
        asked = self._table.update_if(
            _key(LOST, lost.guid),
            put={"asked": lost.asked + 1, "asked_at": at, "tried_at": at, "asked_by": new_owner()},
            condition="#asked = :seen OR #asked_by = :asked_by",
            given={"seen": lost.asked},
        )
        return asked is not None

    def uncount_attempt(self, lost: LostDelivery) -> None:
        """Restores the count and its time after a request without a response."""
        self._table.update_if(
            _key(LOST, lost.guid),
            put={"asked": lost.asked, "asked_at": lost.asked_at},
            remove=() if lost.asked_at else ("asked_at",),
            condition="#asked = :counted",
            given={"counted": lost.asked + 1},
        )


def _key(partition: str, sort: str = schema.ONLY) -> dict[str, str]:
    return {schema.PARTITION: partition, schema.SORT: sort}
