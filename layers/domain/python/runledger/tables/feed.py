"""feed: the events of each installation, a mark with the position of each event, and the positions of consumers.

PK                            SK
{installation}                {time of writing}#{event id}     an event
{installation}#{event id}     v                                its mark
{installation}#consumers      {name}                           a consumer
{installation}#posts          {minute}                         a number of posts: see `request_counts`
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.errors import NotYours
from runledger.model.messages import FeedStatus
from runledger.tables import schema
from runledger.tables.attributes import from_attributes, to_attributes
from runledger.tables.pages import Item, Key, Page, Partition, Span
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


# A repeated or late acknowledgement never moves a consumer back.
FURTHER = "(attribute_not_exists(#position) OR #position < :position)"
OWN = "(attribute_not_exists(#owner) OR #owner = :owner)"
# The status of push delivery never moves back, and an event stays failed once one of its messages has failed.
BEFORE_RETRY = "(#status = :is_received OR #status = :is_retrying) AND #retry_count < :retry_count"
NOT_FAILED = "attribute_exists(#status) AND #status <> :is_failed"
# Limit for the data in one page. A Lambda response is limited to 6 MB, and escaping can double the size of the data.
MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    event_type: str | None = None
    status: str | None = None

    def matches(self, event: Mapping[str, Any]) -> bool:
        return self.event_type in (None, event["event_type"]) and self.status in (None, event["status"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """`moved_from` is the position before; None if there was none, or if the consumer didn't move."""

    consumer: dict[str, Any]
    moved: bool
    moved_from: str | None = None


class FeedTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._table = Table(client, name, label="feed")
        self._retention_days = retention_days

    def newest(self, installation_id: int) -> str | None:
        """The position of the newest event."""
        partition = Partition(value=schema.feed_key(installation_id))
        found = self._table.page(partition, limit=1, consistent=True).items
        return found[0][schema.SORT]["S"] if found else None

    def mark(self, installation_id: int, event_id: str, position: str) -> bool:
        """False if the event has a mark."""
        return self._table.put_if_absent(self._mark(installation_id, event_id, position))

    def mark_again(self, installation_id: int, event_id: str, position: str) -> None:
        self._table.put(to_attributes(self._mark(installation_id, event_id, position)))

    def position_of(self, installation_id: int, event_id: str) -> str | None:
        found = self._table.read(_mark_key(installation_id, event_id))
        return found["position"] if found else None

    def exists(self, installation_id: int, position: str) -> bool:
        return self._table.get(_key(installation_id, position)) is not None

    def put(self, event: Mapping[str, Any], position: str) -> None:
        """Does nothing if the event exists: the SDK repeats a write whose response was lost."""
        installation_id = event["installation_id"]
        self._table.put_if_absent(
            {
                **_key(installation_id, position),
                **event,
                "status": FeedStatus.RECEIVED,
                "retry_count": 0,
                schema.FEED_BY_TYPE.partition: schema.feed_type_key(installation_id, event["event_type"]),
                schema.EXPIRY: self._expiry(position),
            }
        )

    def get(self, installation_id: int, event_id: str) -> dict[str, Any] | None:
        position = self.position_of(installation_id, event_id)
        return self._table.read(_key(installation_id, position)) if position else None

    def retrying(self, installation_id: int, position: str, *, retry_count: int) -> None:
        """`retry_count` is the highest one of the event's messages."""
        given = {"is_received": FeedStatus.RECEIVED, "is_retrying": FeedStatus.RETRYING}
        self._set_status(installation_id, position, FeedStatus.RETRYING, BEFORE_RETRY, given, retry_count=retry_count)

    def delivered(self, installation_id: int, position: str) -> None:
        self._set_status(installation_id, position, FeedStatus.DELIVERED, NOT_FAILED, {"is_failed": FeedStatus.FAILED})

    def failed(self, installation_id: int, position: str) -> None:
        self._set_status(installation_id, position, FeedStatus.FAILED, NOT_FAILED, {"is_failed": FeedStatus.FAILED})

    def _set_status(
        self, installation_id: int, position: str, status: str, condition: str, given: Mapping[str, str], **more: int
    ) -> None:
        """Does nothing if the event has expired."""
        indexed = {schema.FEED_BY_STATUS.partition: schema.status_key(installation_id, status)}
        put = {"status": status, **indexed, **more}
        self._table.update_if(_key(installation_id, position), put=put, condition=condition, given=given)

    def page(
        self,
        installation_id: int,
        wanted: Filter,
        span: Span,
        *,
        newest_first: bool,
        limit: int,
        start: Key | None = None,
        has_time: Callable[[], bool] = lambda: True,
    ) -> Page[Item]:
        """Reads on until `limit` events match or have MOST_BYTES, while `has_time`.

        A page may be short and still have a `next_key`.
        """
        partition, found, size = _partition(installation_id, wanted), list[dict[str, Any]](), 0
        while True:
            left = limit - len(found)
            read = self._table.page(
                partition,
                span,
                newest_first=newest_first,
                limit=left,
                start=start,
                # Index reads are eventually consistent. A consistent read of the table never skips an event that was
                # written before one that it returns.
                consistent=partition.index is None,
            )
            items = read.items if partition.index is None else self._table.follow(read.items)
            for event in filter(wanted.matches, map(from_attributes, items)):
                if size >= MOST_BYTES:
                    return Page(items=found, next_key=_key_in(partition, found[-1]))
                found.append(event)
                size += len(event.get("payload", ""))
            start = read.next_key
            if start is None or len(found) >= limit or size >= MOST_BYTES or not has_time():
                return Page(items=found, next_key=start)

    def after(self, installation_id: int, position: str | None, *, limit: int) -> Page[Item]:
        """The next events, oldest first."""
        start = {**_key(installation_id, position)} if position else None
        return self.page(installation_id, Filter(), Span(), newest_first=False, limit=limit, start=start)

    def consumer(self, installation_id: int, name: str) -> dict[str, Any] | None:
        return self._table.read(_consumer_key(installation_id, name))

    def consumers(self, installation_id: int, *, limit: int, start: Key | None = None) -> Page[Item]:
        partition = Partition(value=schema.feed_consumers_key(installation_id))
        found = self._table.page(partition, newest_first=False, limit=limit, start=start)
        return Page(items=[from_attributes(item) for item in found.items], next_key=found.next_key)

    def acknowledge(
        self, installation_id: int, name: str, position: str, *, at: str, caller_id: str, for_others: bool
    ) -> Acknowledgement:
        """The first caller owns the consumer. Raises NotYours for other callers, unless they may act `for_others`.

        The consumer expires together with the last event that it can have acknowledged.
        """
        key, new = _consumer_key(installation_id, name), {"position": position, "acknowledged_at": at}
        moved, before = self._table.update_or_read(
            key,
            put=new | {schema.EXPIRY: times.expiry(at, self._retention_days)},
            fill={"owner": caller_id},
            condition=FURTHER if for_others else f"{FURTHER} AND {OWN}",
            returning="ALL_OLD",
        )
        if moved:
            return Acknowledgement(consumer=before | new, moved=True, moved_from=before.get("position"))
        stored = self._table.read(key) or new
        if not for_others and stored.get("owner", caller_id) != caller_id:
            raise NotYours(f"Consumer {name} belongs to another caller: only that caller or an operator can move it")
        return Acknowledgement(consumer=stored, moved=False)

    def remove_consumer(self, installation_id: int, name: str) -> dict[str, Any] | None:
        """Returns the removed consumer, if any. A new consumer with this name starts at the oldest event."""
        found = self.consumer(installation_id, name)
        if found:
            self._table.delete(_consumer_key(installation_id, name))
        return found

    def _mark(self, installation_id: int, event_id: str, position: str) -> dict[str, Any]:
        key = _mark_key(installation_id, event_id)
        return {**key, "position": position, schema.EXPIRY: self._expiry(position)}

    def _expiry(self, position: str) -> int:
        return times.expiry(written_at(position), self._retention_days)


def position_at(time: str, event_id: str) -> str:
    return f"{time}#{event_id}"


def written_at(position: str) -> str:
    return position.partition("#")[0]


def _partition(installation_id: int, wanted: Filter) -> Partition:
    """The partition with the fewest other events."""
    if wanted.event_type:
        return Partition(index=schema.FEED_BY_TYPE, value=schema.feed_type_key(installation_id, wanted.event_type))
    if wanted.status and wanted.status != FeedStatus.RECEIVED:
        return Partition(index=schema.FEED_BY_STATUS, value=schema.status_key(installation_id, wanted.status))
    return Partition(value=schema.feed_key(installation_id))


def _key(installation_id: int, position: str) -> dict[str, str]:
    return {schema.PARTITION: schema.feed_key(installation_id), schema.SORT: position}


def _key_in(partition: Partition, event: Mapping[str, Any]) -> Key:
    """The key of an event in the table, or in an index."""
    index = {partition.index.partition: partition.value} if partition.index else {}
    return {schema.PARTITION: event[schema.PARTITION], schema.SORT: event[schema.SORT], **index}


def _mark_key(installation_id: int, event_id: str) -> dict[str, str]:
    return {schema.PARTITION: schema.feed_mark_key(installation_id, event_id), schema.SORT: schema.ONLY}


def _consumer_key(installation_id: int, name: str) -> dict[str, str]:
    return {schema.PARTITION: schema.feed_consumers_key(installation_id), schema.SORT: name}
