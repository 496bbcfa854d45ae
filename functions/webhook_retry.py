"""The retry queue: what could not be recorded at once is recorded now, or goes to the dead-letter queue."""

from typing import Any

from runledger.platform import batches, logs
from runledger.webhooks import retry_queue
from runledger.wiring import recording

ledger = recording.ledger()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _record)


def _record(message: str) -> None:
    entry = retry_queue.from_message(message)
    logs.follow(retry_queue.correlation_id(entry))
    ledger.dispatch(entry)
