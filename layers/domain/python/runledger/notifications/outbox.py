"""Creates messages and queues them.

    put the payload ── put the message (created) ── send it to the queue ── mark it as queued

After a crash, the caller repeats all steps, or the sweep does the rest. A message that exists and is still `created` is
queued once more, and the sender recognises a message that it has sent.
"""

from collections.abc import Callable
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.model.messages import MessageStatus
from runledger.notifications import payloads
from runledger.notifications.messages import NewMessage
from runledger.notifications.queue import NotificationQueue, QueuedMessage
from runledger.tables.messages import MessagesTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbox:
    messages: MessagesTable
    queue: NotificationQueue
    now: Callable[[], str]

    def post(self, message: NewMessage) -> bool:
        """Returns whether the message is new. Raises Malformed if its payload isn't valid."""
        payloads.check(message.payload, installation_id=message.installation_id)
        installation_id, found = message.installation_id, message.message_id
        is_new = self.messages.create(message.to_item(), message.payload)
        if is_new or self._status(installation_id, found) == MessageStatus.CREATED:
            self.queue.send(QueuedMessage(installation_id=installation_id, message_id=found, dispatch=1))
            self.messages.mark_queued(installation_id, found, at=self.now())
        return is_new

    def _status(self, installation_id: int, message_id: str) -> Any:
        return (self.messages.get(installation_id, message_id) or {}).get("status")
