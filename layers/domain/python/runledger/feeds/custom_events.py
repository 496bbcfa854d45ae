"""Custom events, which teams post to the feed: checks of what is accepted. Pure."""

import json
import uuid
from typing import Any

from runledger.feeds import json_data
from runledger.feeds.events import FeedEvent, custom_type_problem, event_id
from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.errors import Malformed

ORIGIN = "api"
MOST_DATA_BYTES = 200_000
LONGEST_ID, LONGEST_SUBJECT = 100, 200
EARLIEST = "2000-01-01T00:00:00.000Z"
# Accepts a clock that is off by a time zone.
MOST_SECONDS_AHEAD = times.SECONDS_PER_DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    event_type: str
    data: Any
    client_id: str | None = None
    occurred_at: str | None = None
    subject: str | None = None


def custom_event(
    posted: Posted, *, installation_id: int, caller_id: str, now: str, source_ip: str | None, correlation_id: str | None
) -> FeedEvent:
    """Raises Malformed if it isn't accepted.

    The event's id is derived from the caller's id too, so a caller can't take the id of another caller's event.
    """
    if problem := custom_type_problem(posted.event_type):
        raise Malformed("type", problem)
    if problem := json_data.problem_of(posted.data):
        raise Malformed("data", problem)
    if (size := len(json.dumps(posted.data))) > MOST_DATA_BYTES:
        raise Malformed("data", f"must have at most {MOST_DATA_BYTES} bytes; it has {size}")
    client_id = posted.client_id or uuid.uuid4().hex
    return FeedEvent(
        installation_id=installation_id,
        event_id=event_id(installation_id, ORIGIN, caller_id, client_id),
        event_type=posted.event_type,
        occurred_at=_time(posted.occurred_at, now=now) if posted.occurred_at else now,
        subject=posted.subject or f"events/{client_id}",
        origin=ORIGIN,
        payload=posted.data,
        correlation_id=correlation_id,
        source_ip=source_ip,
    )


def _time(text: str, *, now: str) -> str:
    try:
        found = times.normalised(text)
    except ValueError:
        raise Malformed("time", "must be an ISO 8601 time") from None
    if not EARLIEST <= found <= times.later(now, seconds=MOST_SECONDS_AHEAD):
        raise Malformed("time", "must be in the year 2000 or later, and at most a day in the future")
    return found
