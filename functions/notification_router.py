"""Reads the feed table's stream, and creates a message for each subscription that matches an event."""

from typing import Any

from runledger.notifications import stream
from runledger.wiring import notifications

# Reserved for finishing the current event, which creates at most 100 messages.
RESERVED_MS = 20_000
router, discarded = notifications.router(), notifications.discarded_records()


def handler(event: dict[str, Any], context: Any) -> Any:
    def has_time() -> bool:
        return bool(context.get_remaining_time_in_millis() > RESERVED_MS)

    return stream.route(event["Records"], to=router.route, discard=discarded.send, has_time=has_time)
