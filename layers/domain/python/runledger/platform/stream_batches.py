"""Batches of records from DynamoDB Streams, processed in order.

Lambda repeats a batch from the first failed record on, so processing stops there. A record that would fail each time
is discarded instead: otherwise, it would block its shard until it expires.

Not with Powertools' BatchProcessor: it also processes the records after a failed one, which Lambda repeats anyway, and
it can't discard a record.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from runledger.platform import logs

Record = Mapping[str, Any]
Response = dict[str, Any]


def each(
    records: Iterable[Record],
    process: Callable[[Record], None],
    *,
    discard: Callable[[Record], None],
    may_succeed_later: Callable[[Exception], bool],
    has_time: Callable[[], bool] = lambda: True,
) -> Response:
    """The response for Lambda. The first record is always started: otherwise, it might never be processed."""
    for number, record in enumerate(records):
        if number and not has_time():
            return _repeat_from(record)
        try:
            process_or_discard(record, process, discard=discard, may_succeed_later=may_succeed_later)
        except Exception as error:
            if not may_succeed_later(error):
                logs.messages_failed(1)
                raise
            return failed_at(record)
    return processed()


def process_or_discard(
    record: Record,
    process: Callable[[Record], None],
    *,
    discard: Callable[[Record], None],
    may_succeed_later: Callable[[Exception], bool] = lambda _error: False,
) -> None:
    """Counts a record that it discards. It doesn't count one for which it raises: the caller does, in its response."""
    try:
        process(record)
    except Exception as error:
        if may_succeed_later(error):
            raise
        logs.logger.exception("stream record failed: it is discarded", extra=_about(record))
        discard(record)
        logs.messages_failed(1)


def processed() -> Response:
    return {"batchItemFailures": []}


def failed_at(record: Record) -> Response:
    """Call it in an exception handler."""
    logs.logger.exception("stream record failed: the batch is repeated from it", extra=_about(record))
    logs.messages_failed(1)
    return _repeat_from(record)


def _repeat_from(record: Record) -> Response:
    return {"batchItemFailures": [{"itemIdentifier": record["dynamodb"]["SequenceNumber"]}]}


def _about(record: Record) -> dict[str, Any]:
    return {"record": record.get("eventID")}
