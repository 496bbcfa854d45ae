"""Routes each new event in the feed table's stream."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runledger.notifications import telemetry
from runledger.notifications.routing import Routed
from runledger.platform import logs
from runledger.platform.availability import may_succeed_later
from runledger.tables.attributes import from_attributes

Record = Mapping[str, Any]
NEW = "INSERT"


def route(
    records: Sequence[Record],
    *,
    to: Callable[[Mapping[str, Any]], Routed],
    discard: Callable[[Record], None],
    has_time: Callable[[], bool] = lambda: True,
) -> dict[str, Any]:
    """The response for Lambda, which repeats the batch from the first failed record on.

    An event may have a hundred messages. Without `has_time`, a batch of them would exceed the time of the function, and
    be repeated as a whole.

    Services that are unavailable or refuse access are a reason to repeat it. A record that fails for another reason
    would fail each time: it is discarded, and the records after it go on.
    """
    total = Routed()
    try:
        for number, record in enumerate(records):
            if number and not has_time():
                return {"batchItemFailures": [{"itemIdentifier": record["dynamodb"]["SequenceNumber"]}]}
            try:
                total += _route(record, to)
            except Exception as error:
                about = {"record": record.get("eventID")}
                logs.messages_failed(1)
                if may_succeed_later(error):
                    logs.logger.exception("event not routed", extra=about)
                    return {"batchItemFailures": [{"itemIdentifier": record["dynamodb"]["SequenceNumber"]}]}
                logs.logger.exception("event can't be routed", extra=about)
                discard(record)
    finally:
        telemetry.routed(total)
    return {"batchItemFailures": []}


def _route(record: Record, to: Callable[[Mapping[str, Any]], Routed]) -> Routed:
    image = record["dynamodb"].get("NewImage") or {}
    if record["eventName"] != NEW or "event_type" not in image:
        return Routed()
    return to(from_attributes(image))
