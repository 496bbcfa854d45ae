"""Events that teams post: what is accepted. Pure."""

import json
import uuid
from dataclasses import dataclass
from typing import Any

from runledger.feeds import json_data
from runledger.feeds.events import FeedEvent, event_id, own_type_problem
from runledger.model import times
from runledger.model.errors import Malformed, TooLarge

ORIGIN = "api"
MOST_DATA_BYTES = 200_000
LONGEST_ID, LONGEST_SUBJECT = 100, 200
EARLIEST = "2000-01-01T00:00:00.000Z"
# A clock that is wrong by a time zone is accepted.
MOST_SECONDS_AHEAD = times.SECONDS_PER_DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    event_type: str
    data: Any
    own_id: str | None = None
    occurred_at: str | None = None
    subject: str | None = None


def own_event(
    posted: Posted, *, installation_id: int, caller_id: str, now: str, source_ip: str | None, correlation_id: str | None
) -> FeedEvent:
    """Malformed or TooLarge if it isn't accepted.

    The id contains the caller's: no caller can use up the id of another's event.
    """
    if problem := own_type_problem(posted.event_type):
        raise Malformed("type", problem)
    if problem := json_data.problem_of(posted.data):
        raise Malformed("data", problem)
    if (size := len(json.dumps(posted.data))) > MOST_DATA_BYTES:
        raise TooLarge(f"data must have at most {MOST_DATA_BYTES} bytes; it has {size}")
    own_id = posted.own_id or uuid.uuid4().hex
    return FeedEvent(
        installation_id=installation_id,
        event_id=event_id(installation_id, ORIGIN, caller_id, own_id),
        event_type=posted.event_type,
        occurred_at=_time(posted.occurred_at, now=now) if posted.occurred_at else now,
        subject=posted.subject or f"events/{own_id}",
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
    if not EARLIEST <= found <= times.earlier(now, seconds=-MOST_SECONDS_AHEAD):
        raise Malformed("time", "must be from the year 2000 on, and at most a day ahead")
    return found
