"""Turns records of DynamoDB Streams into feed events. A record is one change of an item."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from runledger.feeds.events import FeedEvent
from runledger.feeds.translation import translate
from runledger.model import times
from runledger.platform import logs
from runledger.tables import streams
from runledger.tables.streams import Record


def forward(
    records: Sequence[Record],
    *,
    tables: Mapping[str, str],
    send: Callable[[Iterable[FeedEvent]], int],
    discard: Callable[[Record], None],
) -> dict[str, Any]:
    """The response for Lambda, which repeats the batch from the first failed record on.

    `tables` maps physical names to those of the schema. Translation calls no service, so a record that fails would
    fail each time: it is discarded, and the records after it go on. If sending or discarding fails, all records fail:
    the writer recognises what it has written before.
    """
    events: list[FeedEvent] = []
    try:
        for record in records:
            events += _events_or_discard(record, tables, discard)
        send(events)
    except Exception:
        logs.logger.exception("events not sent to the feed", extra={"number": len(events)})
        logs.messages_failed(1)
        return {"batchItemFailures": [{"itemIdentifier": records[0]["dynamodb"]["SequenceNumber"]}]}
    return {"batchItemFailures": []}


def _events_or_discard(record: Record, tables: Mapping[str, str], discard: Callable[[Record], None]) -> list[FeedEvent]:
    table = streams.table_of(record, tables)
    try:
        return _events(record, table)
    except Exception:
        logs.logger.exception("stream record failed", extra={"record": record.get("eventID")})
        discard(record)
        logs.messages_failed(1)
        return []


def _events(record: Record, table: str) -> list[FeedEvent]:
    if not streams.is_change(record):
        return []
    seconds = record["dynamodb"].get("ApproximateCreationDateTime")
    found = translate(
        table,
        *streams.images(record),
        changed_at=times.from_epoch_ms(round(seconds * times.MS_PER_SECOND)) if seconds else None,
    )
    return [replace(event, correlation_id=record.get("eventID")) for event in found]
