"""Reads the notification queues. Each entry is one attempt to send a message."""

from typing import Any

from runledger.notifications import queue
from runledger.platform import batches, logs
from runledger.wiring import notification_sender

sender = notification_sender.sender()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _send)


def _send(message: str) -> None:
    queued = queue.read(message)
    logs.set_correlation_id(queued.message_id)
    sender.process(queued)
