"""notifications: messages, and their payloads.

PK                                  SK
{installation}#messages#{id}        v         the state of a message
{installation}#messages#{id}        payload   its CloudEvent: separate, so that a status change doesn't rewrite it

`dispatch` is the number of the queue entry that may send the message. Each new attempt increases it, so earlier entries
of the same message do nothing. `claimed_until` is the lease of the sender that has the message. `due_at` is when the
next attempt is due. A message that is `parked` isn't in the queue, and the sweep sends it when it is due.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.messages import OPEN_STATUSES, MessageStatus
from runledger.tables import schema
from runledger.tables.attributes import from_attributes
from runledger.tables.pages import Item, Key, Page, Partition, Span
from runledger.tables.table import Table
from runledger.tables.updates import OWN_CLAIM, new_owner

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

STATUSES = {f"is_{status}": status for status in OPEN_STATUSES}
UNFINISHED = f"({' OR '.join(f'#status = :{name}' for name in STATUSES)})"
SAME_DISPATCH = "#dispatch = :known"
FREE = "(attribute_not_exists(#claimed_until) OR #claimed_until <= :now)"
NOT_SWEPT = "(attribute_not_exists(#swept_at) OR #swept_at < :swept_before)"
UNCLAIMED = f"{UNFINISHED} AND {SAME_DISPATCH} AND {FREE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFilter:
    status: str | None = None
    message_type: str | None = None
    subscription_id: str | None = None

    def matches(self, message: Mapping[str, Any]) -> bool:
        return (
            self.status in (None, message["status"])
            and self.message_type in (None, message["message_type"])
            and self.subscription_id in (None, message["subscription_id"])
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NextAttempt:
    """The attempt after a failed one. `parked` if it is later than SQS can delay a message."""

    at: str
    parked: bool
    dispatch: int

    @property
    def attributes(self) -> dict[str, Any]:
        return {"next_attempt_at": self.at, "due_at": self.at, "dispatch": self.dispatch, "parked": self.parked or None}


class MessagesTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._table = Table(client, name, label="notifications")
        self._retention_days = retention_days

    def create(self, message: Mapping[str, Any], payload: Mapping[str, Any]) -> bool:
        """False if the message exists. Its payload is written first, and never changed."""
        installation_id, at = message["installation_id"], message["created_at"]
        expiry = times.expiry(at, self._retention_days)
        key = {schema.PARTITION: schema.message_key(installation_id, message["message_id"])}
        text = json.dumps(payload, separators=(",", ":"))
        self._table.put_if_absent(key | {schema.SORT: schema.PAYLOAD, "payload": text, schema.EXPIRY: expiry})
        status = MessageStatus.CREATED
        state = {
            **key,
            schema.SORT: schema.ONLY,
            **message,
            "status": status,
            "retry_count": 0,
            "updated_at": at,
            "dispatch": 1,
            "due_at": at,
            schema.MESSAGES_DUE.partition: schema.OPEN,
            schema.MESSAGES_BY_STATUS.partition: schema.status_key(installation_id, status),
            schema.MESSAGES_BY_TYPE.partition: schema.message_type_key(installation_id, message["message_type"]),
            schema.MESSAGES_BY_CREATION.partition: schema.creation_key(installation_id),
            schema.EXPIRY: expiry,
        }
        return self._table.put_if_absent(state)

    def get(self, installation_id: int, message_id: str) -> dict[str, Any] | None:
        return self._table.read(_key(installation_id, message_id))

    def payload(self, installation_id: int, message_id: str) -> dict[str, Any] | None:
        found = self._table.read(_key(installation_id, message_id) | {schema.SORT: schema.PAYLOAD})
        return json.loads(found["payload"]) if found else None

    def mark_queued(self, installation_id: int, message_id: str, *, at: str) -> bool:
        changes = _status(installation_id, MessageStatus.QUEUED, at)
        updated = self._table.update_if(
            _key(installation_id, message_id),
            put=changes,
            condition="#status = :is_created",
            given={"is_created": MessageStatus.CREATED},
        )
        return updated is not None

    def claim(self, message: Mapping[str, Any], *, at: str, until: str) -> dict[str, Any] | None:
        """Leases the message to one sender. None if another sender has it, or if it must not be sent now."""
        return self._table.update_if(
            _key_of(message),
            put={
                **_status(message["installation_id"], MessageStatus.PROCESSING, at),
                "claimed_until": until,
                "claimed_by": new_owner(),
            },
            fill={"processing_started_at": at},
            condition=f"{UNFINISHED} AND {SAME_DISPATCH} AND ({FREE} OR {OWN_CLAIM})",
            names=("dispatch",),
            given=STATUSES | {"known": message["dispatch"], "now": at},
            returning="ALL_NEW",
        )

    def complete(self, claimed: Mapping[str, Any], *, at: str, notification_id: str | None) -> bool:
        """False if the lease was lost: another sender has claimed the message since."""
        return self._end(claimed, MessageStatus.COMPLETED, at, notification_id=notification_id)

    def fail(self, claimed: Mapping[str, Any], *, at: str, error: str) -> bool:
        return self._end(claimed, MessageStatus.FAILED, at, error_message=error)

    def retry(self, claimed: Mapping[str, Any], following: NextAttempt, *, at: str, error: str) -> bool:
        """Stores a failed attempt and the time of the next one. False if the lease was lost."""
        updated = self._table.update_if(
            _key_of(claimed),
            put={
                **following.attributes,
                "retry_count": claimed["retry_count"] + 1,
                "error_message": error,
                "updated_at": at,
            },
            remove=("claimed_until", "swept_at", *_unparked(following)),
            condition=OWN_CLAIM,
            names=("claimed_by",),
            given={"claimed_by": claimed["claimed_by"]},
        )
        return updated is not None

    def defer(self, message: Mapping[str, Any], following: NextAttempt, *, at: str) -> bool:
        """Defers a message without an attempt. False if another sender was faster."""
        updated = self._table.update_if(
            _key_of(message),
            put={**following.attributes, "updated_at": at},
            remove=("swept_at", *_unparked(following)),
            condition=UNCLAIMED,
            names=("status", "claimed_until"),
            given=STATUSES | {"known": message["dispatch"], "now": at},
        )
        return updated is not None

    def abandon(self, message: Mapping[str, Any], *, at: str, error: str) -> bool:
        """Fails a message that no sender has claimed. False if another sender was faster.

        Repeatable, like a claim: otherwise, a failure whose response was lost would be missing from the event's status.
        """
        changes = _ended(message["installation_id"], MessageStatus.FAILED, at)
        updated = self._table.update_if(
            _key_of(message),
            put=changes | {"error_message": error, "claimed_by": new_owner()},
            remove=_OPEN_ONLY,
            condition=f"({UNCLAIMED}) OR {OWN_CLAIM}",
            names=("dispatch",),
            given=STATUSES | {"known": message["dispatch"], "now": at},
        )
        return updated is not None

    def mark_resent(self, installation_id: int, message_id: str, *, resent_as: str) -> bool:
        """False if the message has expired. Repeatable, because a resent message always gets the same id."""
        updated = self._table.update_if(
            _key(installation_id, message_id),
            put={"resent_as": resent_as},
            condition="#status = :failed",
            names=("status",),
            given={"failed": MessageStatus.FAILED},
        )
        return updated is not None

    def due(self, *, until: str) -> Iterator[dict[str, Any]]:
        """Messages that were due before `until`, the most overdue first."""
        for items in self._table.indexed(Partition(index=schema.MESSAGES_DUE, value=schema.OPEN), before=until):
            yield from (item for item in map(from_attributes, items) if item["status"] in OPEN_STATUSES)

    def sweep(self, message: Mapping[str, Any], *, at: str, swept_before: str) -> bool:
        """Whether to send the message to the queue again. It keeps its `dispatch`, because the queue may still contain
        an earlier entry, which may then send it.
        """
        updated = self._table.update_if(
            _key_of(message),
            put={"swept_at": at},
            remove=("parked",),
            condition=f"{UNCLAIMED} AND {NOT_SWEPT}",
            names=("status", "dispatch", "claimed_until"),
            given=STATUSES | {"known": message["dispatch"], "now": at, "swept_before": swept_before},
        )
        return updated is not None

    def page(
        self,
        installation_id: int,
        wanted: MessageFilter,
        span: Span,
        *,
        limit: int,
        start: Key | None = None,
        has_time: Callable[[], bool] = lambda: True,
    ) -> Page[Item]:
        """Newest first. Reads until `limit` messages match, or until `has_time` returns False."""
        partition, found = _partition(installation_id, wanted), list[dict[str, Any]]()
        while True:
            read = self._table.page(partition, span, limit=limit - len(found), start=start)
            found += filter(wanted.matches, map(from_attributes, self._table.follow(read.items)))
            start = read.next_key
            if start is None or len(found) >= limit or not has_time():
                return Page(items=found, next_key=start)

    def count(self, installation_id: int, status: MessageStatus, span: Span) -> int:
        return self._table.count(_by_status(installation_id, status), span)

    def oldest(self, installation_id: int, status: MessageStatus) -> str | None:
        """When the oldest message with this status was created."""
        found = self._table.page(_by_status(installation_id, status), newest_first=False, limit=1).items
        return found[0]["created_at"]["S"] if found else None

    def _end(self, claimed: Mapping[str, Any], status: MessageStatus, at: str, **result: str | None) -> bool:
        """Repeatable, because the SDK repeats a write whose response was lost: no sender claims an ended message."""
        changes = _ended(claimed["installation_id"], status, at)
        updated = self._table.update_if(
            _key_of(claimed),
            put=changes | result,
            remove=_OPEN_ONLY if status is MessageStatus.FAILED else (*_OPEN_ONLY, "error_message"),
            condition=OWN_CLAIM,
            names=("claimed_by",),
            given={"claimed_by": claimed["claimed_by"]},
        )
        return updated is not None


_OPEN_ONLY = (schema.MESSAGES_DUE.partition, "due_at", "claimed_until", "next_attempt_at", "parked", "swept_at")


def _status(installation_id: int, status: MessageStatus, at: str) -> dict[str, str]:
    indexed = {schema.MESSAGES_BY_STATUS.partition: schema.status_key(installation_id, status)}
    return {"status": status, "updated_at": at, **indexed}


def _ended(installation_id: int, status: MessageStatus, at: str) -> dict[str, str]:
    return {**_status(installation_id, status, at), "processing_completed_at": at}


def _unparked(following: NextAttempt) -> tuple[str, ...]:
    return () if following.parked else ("parked",)


def _partition(installation_id: int, wanted: MessageFilter) -> Partition:
    """The partition with the fewest other messages."""
    if wanted.message_type:
        key = schema.message_type_key(installation_id, wanted.message_type)
        return Partition(index=schema.MESSAGES_BY_TYPE, value=key)
    if wanted.status:
        return _by_status(installation_id, wanted.status)
    return Partition(index=schema.MESSAGES_BY_CREATION, value=schema.creation_key(installation_id))


def _by_status(installation_id: int, status: str) -> Partition:
    return Partition(index=schema.MESSAGES_BY_STATUS, value=schema.status_key(installation_id, status))


def _key(installation_id: int, message_id: str) -> dict[str, str]:
    return {schema.PARTITION: schema.message_key(installation_id, message_id), schema.SORT: schema.ONLY}


def _key_of(message: Mapping[str, Any]) -> dict[str, str]:
    return _key(message["installation_id"], message["message_id"])
