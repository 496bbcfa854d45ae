"""Queues messages that are due and not queued: those that SQS couldn't delay long enough, and leftovers of a crash.

A message is overdue if its attempt should have begun some minutes ago. It may still be in a long queue, so the queued
attempt stays valid, and the message is queued again at most once in half an hour.
"""

from collections.abc import Callable

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.messages import MessageStatus
from runledger.notifications import telemetry
from runledger.notifications.queue import Lane, NotificationQueue, QueuedMessage
from runledger.tables.messages import MessagesTable

OVERDUE_SECONDS = 10 * times.SECONDS_PER_MINUTE
SWEEP_AGAIN_SECONDS = 30 * times.SECONDS_PER_MINUTE


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    messages: MessagesTable
    queue: NotificationQueue
    now: Callable[[], str]

    def run(self, *, has_time: Callable[[], bool] = lambda: True) -> int:
        """The number of messages sent to the queue. The next sweep continues if this one runs out of time."""
        now, sent, oldest_ms = self.now(), 0, 0
        overdue_before = times.earlier(now, seconds=OVERDUE_SECONDS)
        for message in self.messages.due(until=now):
            parked = message.get("parked", False)
            if not parked:
                oldest_ms = max(oldest_ms, times.ms_between(message["due_at"], now))
            if (parked or message["due_at"] < overdue_before) and self._send(message, now):
                sent += 1
            if not has_time():
                break
        telemetry.swept(sent, oldest_seconds=oldest_ms / times.MS_PER_SECOND)
        return sent

    def _send(self, message: dict[str, object], now: str) -> bool:
        """After a crash between the two writes, a later sweep sends the message."""
        swept_before = times.earlier(now, seconds=SWEEP_AGAIN_SECONDS)
        if not self.messages.sweep(message, at=now, swept_before=swept_before):
            return False
        queued = QueuedMessage.of(message, Lane.SLOW if message["retry_count"] else Lane.FAST)
        self.queue.send(queued)
        if message["status"] == MessageStatus.CREATED:
            self.messages.mark_queued(queued.installation_id, queued.message_id, at=now)
        return True
