"""Reads the table streams, turns relevant changes into feed events, and queues them for feed_writer."""

from typing import Any

from runledger.feeds import stream
from runledger.wiring import feeds

queue, tables, discarded = feeds.required_queue(), feeds.streamed_tables(), feeds.discarded_records()


def handler(event: dict[str, Any], _context: Any) -> Any:
    return stream.forward(event["Records"], tables=tables, send=queue.send, discard=discarded.send)
