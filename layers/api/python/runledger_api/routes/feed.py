"""The event feed: events, named consumers with their positions, and events that teams post."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.feeds import own_events
from runledger.feeds.envelope import envelope
from runledger.feeds.events import is_kept
from runledger.feeds.own_events import Posted
from runledger.model.errors import Malformed, NotYours, TooLarge
from runledger.platform import logs
from runledger.tables.feed import Filter, written_at
from runledger.tables.pages import Span

from runledger_api import parameters, wiring
from runledger_api.authentication import Role
from runledger_api.authorization import requires
from runledger_api.errors import Forbidden, InvalidParameter, NotFound, TooManyRequests
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
from runledger_api.validation import FORMATS
from runledger_api.wiring import Feed

router = APIGatewayHttpRouter()
FEED = "/v1/installations/<installation_id>/feed"
TYPE = r"^[a-z][a-z0-9_.]{1,99}$"
EVENT_ID = r"^[0-9a-f]{32}$"
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
    description="`since` filters by `writtenat`. A page may be short and still have a `next_cursor`.",
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
    summary="Advance a consumer past the last event that it has processed",
    description="Requires the role publisher. A position never moves back: an older event changes nothing. The caller "
    "that sends the first acknowledgement owns the consumer. Only this caller and operators can move it.",
)
@requires(Role.PUBLISHER)
def acknowledge(
    installation_id: InstallationId, name: ConsumerName, body: Annotated[Acknowledgement | None, Body()] = None
) -> Consumer:
    table = _feed().table
    if body is None:
        raise _MISSING_BODY
    if not re.fullmatch(EVENT_ID, body["id"]):
        raise InvalidParameter("id", FORMATS["event_id"])
    position, request = _position(installation_id, body["id"]), current_request(router)
    caller = request.caller
    try:
        done = table.acknowledge(
            installation_id,
            name,
            position,
            at=request.now,
            caller_id=caller.id,
            for_others=caller.role == Role.OPERATOR,
        )
    except NotYours as not_yours:
        raise Forbidden(str(not_yours)) from None
    if done.moved:
        _log_move(installation_id, name, before=done.moved_from, after=position)
    return _consumer(name, done.consumer)


@router.delete(
    f"{FEED}/consumers/<name>",
    tags=["feed"],
    operation_id="removeConsumer",
    summary="Remove a consumer, with its position and its owner",
    description="Requires the role operator. A new consumer with this name starts with the oldest event in the feed.",
)
@requires(Role.OPERATOR)
def remove_consumer(installation_id: InstallationId, name: ConsumerName) -> Consumer:
    removed = _feed().table.remove_consumer(installation_id, name)
    if removed is None:
        raise NotFound(f"Consumer {name} was not found: it has acknowledged nothing, or was removed")
    _log_move(installation_id, name, before=removed["position"], after=None)
    return _consumer(name, removed)


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
    summary="Post a custom event",
    description="Requires the role publisher. Post it again with the same `id` and token if there was no response.",
    status_code=202,
)
@requires(Role.PUBLISHER)
def post(installation_id: InstallationId, body: Annotated[PostedEvent | None, Body()] = None) -> AcceptedEvent:
    queue, request = _feed().queue, current_request(router)
    if body is None:
        raise _MISSING_BODY
    _check_text("id", body.get("id"), own_events.LONGEST_ID)
    _check_text("subject", body.get("subject"), own_events.LONGEST_SUBJECT)
    try:
        posted = own_events.own_event(
            Posted(
                event_type=body["type"],
                data=body.get("data", {}),
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
        raise InvalidParameter(malformed.field, malformed.problem) from None
    except TooLarge as too_large:
        raise InvalidParameter("data", str(too_large).removeprefix("data ")) from None
    if not is_kept(posted.event_type, queue.types):
        raise InvalidParameter("type", "isn't kept by this deployment: see its setting feed_types")
    if not _feed().posts.count(installation_id, at=request.now):
        most = _feed().posts.most_per_minute
        raise TooManyRequests(f"This installation has reached its limit of {most} posts a minute: try again later")
    queue.send([posted])
    return {"id": posted.event_id}


def _check_text(name: str, text: str | None, longest: int) -> None:
    if text is not None and not (0 < len(text) <= longest and text.isprintable()):
        raise InvalidParameter(name, f"should be printable text of 1 to {longest} characters")


def _feed() -> Feed:
    found = wiring.feed()
    if found is None:
        raise NotFound("This deployment has no event feed: the setting feeds turns it on")
    return found


def _position(installation_id: int, event_id: str) -> str:
    table = _feed().table
    position = table.position_of(installation_id, event_id)
    if position is None or not table.exists(installation_id, position):
        raise _not_found(event_id)
    return position


def _log_move(installation_id: int, name: str, *, before: str | None, after: str | None) -> None:
    """Beside the line `admin action`, which has the caller."""
    about = {"installation_id": installation_id, "consumer": name, "position_before": before, "position": after}
    logs.logger.info("consumer moved", extra=about)


def _not_found(event_id: str) -> NotFound:
    return NotFound(f"Event {event_id} was not found, or has expired")


def _body(item: Mapping[str, Any], payload: str | None = None) -> Any:
    return envelope(item, written_at=written_at(item["SK"]), payload=payload)


def _consumer(name: str, stored: Mapping[str, Any]) -> Any:
    time, _, event_id = stored["position"].partition("#")
    return {"name": name, "event_id": event_id, "written_at": time, "acknowledged_at": stored["acknowledged_at"]}
