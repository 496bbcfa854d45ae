"""Reads the retry queue: inputs that could not be recorded at once, parts of large reviews, and copies for S3."""

from typing import Any

from runledger.platform import batches, logs
from runledger.webhooks import retry_queue
from runledger.wiring import recording

ledger, put_copy = recording.ledger(), recording.put_copy()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _record)


def _record(message: str) -> None:
    if retry_queue.is_copy(message):
        logs.continue_message(message)
        put_copy(message)
        return
    received = retry_queue.from_message(message)
    logs.continue_message(message, otherwise=retry_queue.source_of(received))
    ledger.dispatch(received)
