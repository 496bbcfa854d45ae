"""The stream of the feed: each new event becomes a message for each subscription that matches."""

from typing import Any

from runledger.notifications import stream
from runledger.wiring import notifications

router, discarded = notifications.router(), notifications.discarded_records()


def handler(event: dict[str, Any], _context: Any) -> Any:
    return stream.route(event["Records"], to=router.route, discard=discarded.send)
