"""Reads the feed queue, and writes the events of each installation in order."""

from typing import Any

from runledger.feeds import queue, telemetry
from runledger.platform import batches
from runledger.wiring import feeds

writer = feeds.writer()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each_in_order(event, context, _write)


def _write(message: str) -> None:
    if events := queue.read(message):
        written = writer.write(events)
        telemetry.feed_written(events[0].installation_id, new=written.new, repeated=written.repeated)
