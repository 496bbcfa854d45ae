"""Turns records of DynamoDB Streams into feed events. A record is one change of an item."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from runledger.feeds.events import FeedEvent
from runledger.feeds.translation import translate
from runledger.model import times
from runledger.platform import stream_batches
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

    `tables` maps physical table names to names in the schema. Translation calls no service, so a record that fails
    would fail each time: it is discarded. If sending or discarding fails, the whole batch is repeated: the writer
    recognises events that it has written before.
    """
    events: list[FeedEvent] = []

    def process(record: Record) -> None:
        events.extend(_events(record, streams.table_of(record, tables)))

    try:
        for record in records:
            streams.table_of(record, tables)  # an unknown table is a wrong setting: nothing is discarded
        for record in records:
            stream_batches.process_or_discard(record, process, discard=discard)
        send(events)
    except Exception:
        return stream_batches.failed_at(records[0])
    return stream_batches.processed()


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
