"""The stream of the feed: each new event becomes a message for each subscription that matches."""

from typing import Any

from runledger.model import times
from runledger.notifications import stream
from runledger.wiring import notifications

# What is left to an event that was begun: it has a hundred messages at most.
SECONDS_TO_END = 20
router, discarded = notifications.router(), notifications.discarded_records()


def handler(event: dict[str, Any], context: Any) -> Any:
    def has_time() -> bool:
        return bool(context.get_remaining_time_in_millis() > SECONDS_TO_END * times.MS_PER_SECOND)

    return stream.route(event["Records"], to=router.route, discard=discarded.send, has_time=has_time)
