"""Records of DynamoDB Streams: each is a change of an item, and those that are news become events of the feed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from runledger.feeds.events import FeedEvent
from runledger.feeds.translation import translate
from runledger.model import times
from runledger.platform import logs
from runledger.tables.attributes import from_attributes

Record = Mapping[str, Any]
CHANGES = ("INSERT", "MODIFY")


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
    table = tables[_physical_name(record["eventSourceARN"])]
    try:
        return _events(record, table)
    except Exception:
        logs.logger.exception("stream record failed", extra={"record": record.get("eventID")})
        discard(record)
        logs.messages_failed(1)
        return []


def _events(record: Record, table: str) -> list[FeedEvent]:
    if record["eventName"] not in CHANGES:
        return []  # expired
    change = record["dynamodb"]
    seconds = change.get("ApproximateCreationDateTime")
    found = translate(
        table,
        from_attributes(change.get("OldImage") or {}),
        from_attributes(change["NewImage"]),
        changed_at=times.from_epoch_ms(round(seconds * times.MS_PER_SECOND)) if seconds else None,
    )
    return [replace(event, correlation_id=record.get("eventID")) for event in found]


def _physical_name(stream_arn: str) -> str:
    """`arn:aws:dynamodb:REGION:ACCOUNT:table/NAME/stream/TIME`"""
    return stream_arn.split("/")[1]
