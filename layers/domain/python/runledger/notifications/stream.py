"""Routes each new event in the feed table's stream."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runledger.notifications import telemetry
from runledger.notifications.routing import Routed
from runledger.platform import stream_batches
from runledger.platform.availability import may_succeed_later
from runledger.platform.stream_batches import Record
from runledger.tables.attributes import from_attributes

NEW = "INSERT"


def route(
    records: Sequence[Record],
    *,
    to: Callable[[Mapping[str, Any]], Routed],
    discard: Callable[[Record], None],
    has_time: Callable[[], bool] = lambda: True,
) -> dict[str, Any]:
    """The response for Lambda, which repeats the batch from the first failed record on.

    An event may have a hundred messages. Without `has_time`, a batch could exceed the timeout of the function, and be
    repeated as a whole. The batch is also repeated if a service is unavailable or refuses access.
    """
    total = Routed()

    def process(record: Record) -> None:
        nonlocal total
        total += _route(record, to)

    try:
        return stream_batches.each(
            records, process, discard=discard, may_succeed_later=may_succeed_later, has_time=has_time
        )
    finally:
        telemetry.routed(total)


def _route(record: Record, to: Callable[[Mapping[str, Any]], Routed]) -> Routed:
    image = record["dynamodb"].get("NewImage") or {}
    if record["eventName"] != NEW or "event_type" not in image:
        return Routed()
    return to(from_attributes(image))
