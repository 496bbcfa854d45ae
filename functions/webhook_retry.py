"""The retry queue: what could not be recorded at once is recorded now, or goes to the dead-letter queue."""

from typing import Any

from runledger import batches, retries, runtime, telemetry

ledger = runtime.ledger()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _take)


def _take(message: str) -> None:
    said = retries.from_message(message)
    telemetry.follow(retries.correlation_id(said))
    telemetry.taken(said, ledger.take(said))
