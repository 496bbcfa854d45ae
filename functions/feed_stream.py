"""The streams of the tables: changes that are news become events of the feed, on the queue of its writer."""

from typing import Any

from runledger.feeds import stream
from runledger.wiring import feeds

queue, tables, discarded = feeds.required_queue(), feeds.streamed_tables(), feeds.discarded_records()


def handler(event: dict[str, Any], _context: Any) -> Any:
    return stream.forward(event["Records"], tables=tables, send=queue.send, discard=discarded.send)
