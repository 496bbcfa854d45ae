"""Records of DynamoDB Streams: each is a change of an item, and those that are news become events of the feed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from runledger.feeds.events import FeedEvent
from runledger.feeds.translation import translate
from runledger.platform import logs
from runledger.tables.attributes import from_attributes

Record = Mapping[str, Any]
CHANGES = ("INSERT", "MODIFY")


def forward(
    records: Sequence[Record], *, tables: Mapping[str, str], send: Callable[[Iterable[FeedEvent]], int]
) -> dict[str, Any]:
    """The response for Lambda, which repeats the batch from the first failed record on.

    `tables` maps physical names to those of the schema. If a record fails, those before it are sent. If sending
    fails, all records fail: the writer recognises what it has written before.
    """
    events: list[FeedEvent] = []
    failed: Record | None = None
    for record in records:
        try:
            events += _events(record, tables)
        except Exception:
            logs.logger.exception("stream record failed", extra={"record": record.get("eventID")})
            failed = record
            break
    try:
        send(events)
    except Exception:
        logs.logger.exception("events not sent to the feed", extra={"number": len(events)})
        failed = records[0]
    if failed is None:
        return {"batchItemFailures": []}
    logs.messages_failed(1)
    return {"batchItemFailures": [{"itemIdentifier": failed["dynamodb"]["SequenceNumber"]}]}


def _events(record: Record, tables: Mapping[str, str]) -> list[FeedEvent]:
    if record["eventName"] not in CHANGES:
        return []  # expired
    change = record["dynamodb"]
    table = tables[_physical_name(record["eventSourceARN"])]
    found = translate(table, from_attributes(change.get("OldImage") or {}), from_attributes(change["NewImage"]))
    return [replace(event, correlation_id=record.get("eventID")) for event in found]


def _physical_name(stream_arn: str) -> str:
    """`arn:aws:dynamodb:REGION:ACCOUNT:table/NAME/stream/TIME`"""
    return stream_arn.split("/")[1]
