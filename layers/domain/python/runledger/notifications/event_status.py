"""Updates the status of a feed event from its messages."""

from collections.abc import Mapping
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.model.messages import MessageStatus
from runledger.tables.event_messages import EventMessagesTable
from runledger.tables.feed import FeedTable


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStatus:
    """Safe to repeat: after a crash, the next sender of the message does it again."""

    feed: FeedTable
    event_messages: EventMessagesTable

    def retrying(self, message: Mapping[str, Any], *, retry_count: int) -> None:
        if position := self._position(message):
            self.feed.retrying(message["installation_id"], position, retry_count=retry_count)

    def ended(self, message: Mapping[str, Any], status: MessageStatus) -> None:
        """An event is failed as soon as one of its messages is, and delivered when all of them are completed.

        A failure is stored before the message is removed from the pending set. Otherwise, another message could empty
        the set first and mark the event as delivered.
        """
        position = self._position(message)
        if position is None:
            return
        installation_id = message["installation_id"]
        if status is MessageStatus.FAILED:
            self.feed.failed(installation_id, position)
        if self.event_messages.ended(installation_id, message["event_id"], message["subscription_id"]):
            self.feed.delivered(installation_id, position)

    def _position(self, message: Mapping[str, Any]) -> str | None:
        """None for a message that doesn't belong to a feed event."""
        event_id = message.get("event_id")
        return self.event_messages.position(message["installation_id"], event_id) if event_id else None
