"""The event feed: events, named consumers with their positions, and events that teams post."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.feeds import own_events
from runledger.feeds.envelope import envelope
from runledger.feeds.events import is_kept
from runledger.feeds.own_events import Posted
from runledger.model.errors import Malformed, TooLarge
from runledger.tables.feed import Filter, written_at
from runledger.tables.pages import Span

from runledger_api import parameters, wiring
from runledger_api.errors import InvalidParameter, NotFound
from runledger_api.models.feed import (
    AcceptedEvent,
    Acknowledgement,
    CloudEvent,
    CloudEvents,
    Consumer,
    Consumers,
    NextEvents,
    PostedEvent,
)
from runledger_api.pagination import Paginator
from runledger_api.parameters import Cursor, InstallationId, Limit, Order, Since
from runledger_api.request import current_request
from runledger_api.wiring import Feed

router = APIGatewayHttpRouter()
FEED = "/v1/installations/<installation_id>/feed"
TYPE = r"^[a-z][a-z0-9_.]{1,99}$"
EVENT_ID = r"^[A-Za-z0-9_-]{1,100}$"
EventId = Annotated[str, Path(pattern=EVENT_ID, description="`id` of the event")]
ConsumerName = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9_-]{1,100}$", description="a name that you choose: letters, digits, - and _")
]

# Optional for the router, so that an installation that the caller can't see is a 404 first.
_MISSING_BODY = InvalidParameter("body", "is missing")


@router.get(
    FEED,
    tags=["feed"],
    operation_id="listFeed",
    summary="Events of an installation, in the order in which they were written to the feed",
    description="`since` is about `writtenat`. A page may be short and still have a `next_cursor`.",
)
def feed(
    *,
    installation_id: InstallationId,
    type: Annotated[str | None, Query(pattern=TYPE, description="only events of this type")] = None,  # noqa: A002
    status: Annotated[Literal["received", "retrying", "delivered", "failed"] | None, Query()] = None,
    since: Since = None,
    after: Annotated[
        str | None, Query(pattern=EVENT_ID, description="only events after the one with this id; with order=oldest")
    ] = None,
    order: Order = "newest",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> CloudEvents:
    table = _feed().table
    request = current_request(router)
    if after and (order != "oldest" or type or status):
        raise InvalidParameter("after", "requires order=oldest, without type and status")
    paginator = Paginator(wiring.cursors(), request, cursor, Span(since=parameters.instant("since", since, request)))
    if after and not cursor:
        found = table.after(installation_id, _position(installation_id, after), limit=limit)
    else:
        found = table.page(
            installation_id,
            Filter(event_type=type, status=status),
            Span() if after else paginator.span,
            newest_first=order == "newest",
            limit=limit,
            start=paginator.start,
            has_time=request.has_time,
        )
    return paginator.page([_body(item) for item in found.events], found.next_key)


@router.get(f"{FEED}/consumers", tags=["feed"], operation_id="listConsumers", summary="Consumers and their positions")
def consumers(installation_id: InstallationId, limit: Limit = 50, cursor: Cursor = None) -> Consumers:
    table = _feed().table
    paginator = Paginator(wiring.cursors(), current_request(router), cursor, Span())
    found = table.consumers(installation_id, limit=limit, start=paginator.start)
    return paginator.page([_consumer(each["SK"], each) for each in found.events], found.next_key)


@router.get(
    f"{FEED}/consumers/<name>/events",
    tags=["feed"],
    operation_id="listNextEvents",
    summary="The next events of a consumer, oldest first",
    description="Reading doesn't move the consumer: acknowledge the last event that you have processed.",
)
def next_events(installation_id: InstallationId, name: ConsumerName, limit: Limit = 50) -> NextEvents:
    table = _feed().table
    consumer = table.consumer(installation_id, name) or {}
    found = table.after(installation_id, consumer.get("position"), limit=limit)
    return {"items": [_body(item) for item in found.events], "more": found.next_key is not None}


@router.post(
    f"{FEED}/consumers/<name>/ack",
    tags=["feed"],
    operation_id="acknowledge",
    summary="Move a consumer behind the last event that it has processed",
    description="A position never moves back: an older event changes nothing.",
)
def acknowledge(
    installation_id: InstallationId, name: ConsumerName, body: Annotated[Acknowledgement | None, Body()] = None
) -> Consumer:
    table = _feed().table
    if body is None:
        raise _MISSING_BODY
    position = _position(installation_id, body["id"])
    consumer = table.acknowledge(installation_id, name, position, at=current_request(router).now)
    return _consumer(name, consumer)


@router.get(f"{FEED}/<event_id>", tags=["feed"], operation_id="getFeedEvent", summary="One event, with its data")
def event(installation_id: InstallationId, event_id: EventId) -> CloudEvent:
    table = _feed().table
    found = table.get(installation_id, event_id)
    if found is None:
        raise _not_found(event_id)
    payload = _feed().payloads.get(found["payload_key"]) if "payload_key" in found else None
    return _body(found, payload)


@router.post(
    FEED,
    tags=["feed"],
    operation_id="postFeedEvent",
    summary="Post an event of your own",
    description="Requires the role publisher. Post it again with the same `id` and token if there was no response.",
    status_code=202,
)
def post(installation_id: InstallationId, body: Annotated[PostedEvent | None, Body()] = None) -> AcceptedEvent:
    queue, request = _feed().queue, current_request(router)
    if body is None:
        raise _MISSING_BODY
    data: Any = body.get("data", {})
    _check_text("id", body.get("id"), own_events.LONGEST_ID)
    _check_text("subject", body.get("subject"), own_events.LONGEST_SUBJECT)
    try:
        posted = own_events.own_event(
            Posted(
                event_type=body["type"],
                data=data,
                data_bytes=_size(data),
                own_id=body.get("id"),
                occurred_at=body.get("time"),
                subject=body.get("subject"),
            ),
            installation_id=installation_id,
            caller_id=request.caller.id,
            now=request.now,
            source_ip=request.source_ip,
            correlation_id=request.id,
        )
    except Malformed as malformed:
        raise InvalidParameter(malformed.field, str(malformed).removeprefix(f"{malformed.field} ")) from None
    except TooLarge as too_large:
        raise InvalidParameter("data", str(too_large).removeprefix("data ")) from None
    if not is_kept(posted.event_type, queue.types):
        raise InvalidParameter("type", "isn't kept by this deployment: see its setting feed_types")
    queue.send([posted])
    return {"id": posted.event_id}


def _size(data: Any) -> int:
    try:
        return len(json.dumps(data, allow_nan=False))
    except ValueError:
        raise InvalidParameter("data", "should be JSON, which has neither NaN nor Infinity") from None


def _check_text(name: str, text: str | None, longest: int) -> None:
    if text is not None and not (0 < len(text) <= longest and text.isprintable()):
        raise InvalidParameter(name, f"should be printable text of 1 to {longest} characters")


def _feed() -> Feed:
    found = wiring.feed()
    if found is None:
        raise NotFound("This deployment has no event feed: the setting feeds turns it on")
    return found


def _position(installation_id: int, event_id: str) -> str:
    position = _feed().table.position_of(installation_id, event_id)
    if position is None:
        raise _not_found(event_id)
    return position


def _not_found(event_id: str) -> NotFound:
    return NotFound(f"Event {event_id} was not found, or has expired")


def _body(item: Mapping[str, Any], payload: str | None = None) -> Any:
    return envelope(item, written_at=written_at(item["SK"]), payload=payload)


def _consumer(name: str, stored: Mapping[str, Any]) -> Any:
    time, _, event_id = stored["position"].partition("#")
    return {"name": name, "event_id": event_id, "written_at": time, "acknowledged_at": stored["acknowledged_at"]}
