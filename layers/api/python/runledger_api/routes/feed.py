"""The event feed: events, named consumers with their positions, and events that teams post."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.feeds import custom_events
from runledger.feeds.custom_events import Posted
from runledger.feeds.envelope import envelope
from runledger.feeds.events import is_kept
from runledger.platform import logs
from runledger.tables import schema
from runledger.tables.feed import Filter, written_at
from runledger.tables.pages import Span

from runledger_api import parameters, wiring
from runledger_api.authentication import Role
from runledger_api.authorization import requires
from runledger_api.errors import InvalidParameter, NotFound, TooManyRequests
from runledger_api.features import require_feed
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
from runledger_api.parameters import (
    EVENT_TYPE,
    GENERATED_ID,
    INSTALLATION,
    Cursor,
    InstallationId,
    Limit,
    Order,
    Since,
    check_text,
    required,
)
from runledger_api.request import current_request
from runledger_api.validation import FORMATS

router = APIGatewayHttpRouter()
FEED = f"{INSTALLATION}/feed"
EventId = Annotated[str, Path(pattern=GENERATED_ID, description="`id` of the event")]
ConsumerName = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9_-]{1,100}$", description="a name that you choose: letters, digits, - and _")
]


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
    type: Annotated[str | None, Query(pattern=EVENT_TYPE, description="only events of this type")] = None,  # noqa: A002
    status: Annotated[Literal["received", "retrying", "delivered", "failed"] | None, Query()] = None,
    since: Since = None,
    after: Annotated[
        str | None,
        Query(pattern=GENERATED_ID, description="only events after the one with this id; requires order=oldest"),
    ] = None,
    order: Order = "newest",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> CloudEvents:
    table = require_feed().table
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
    return paginator.page([_body(item) for item in found.items], found.next_key)


@router.get(f"{FEED}/consumers", tags=["feed"], operation_id="listConsumers", summary="Consumers and their positions")
def consumers(installation_id: InstallationId, limit: Limit = 50, cursor: Cursor = None) -> Consumers:
    table = require_feed().table
    paginator = Paginator(wiring.cursors(), current_request(router), cursor, Span())
    found = table.consumers(installation_id, limit=limit, start=paginator.start)
    return paginator.page([_consumer(each[schema.SORT], each) for each in found.items], found.next_key)


@router.get(
    f"{FEED}/consumers/<name>/events",
    tags=["feed"],
    operation_id="listNextEvents",
    summary="The next events of a consumer, oldest first",
    description="Reading doesn't move the consumer: acknowledge the last event that you have processed.",
)
def next_events(installation_id: InstallationId, name: ConsumerName, limit: Limit = 50) -> NextEvents:
    table = require_feed().table
    consumer = table.consumer(installation_id, name) or {}
    found = table.after(installation_id, consumer.get("position"), limit=limit)
    return {"items": [_body(item) for item in found.items], "more": found.next_key is not None}


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
    table, event_id = require_feed().table, required("body", body)["id"]
    if not re.fullmatch(GENERATED_ID, event_id):
        raise InvalidParameter("id", FORMATS["event_id"])
    position, request = _position(installation_id, event_id), current_request(router)
    done = table.acknowledge(
        installation_id,
        name,
        position,
        at=request.now,
        caller_id=request.caller.id,
        for_others=request.caller.role == Role.OPERATOR,
    )
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
    removed = require_feed().table.remove_consumer(installation_id, name)
    if removed is None:
        raise NotFound(f"Consumer {name} was not found: it has acknowledged nothing, or was removed")
    _log_move(installation_id, name, before=removed["position"], after=None)
    return _consumer(name, removed)


@router.get(f"{FEED}/<event_id>", tags=["feed"], operation_id="getFeedEvent", summary="One event, with its data")
def event(installation_id: InstallationId, event_id: EventId) -> CloudEvent:
    table = require_feed().table
    found = table.get(installation_id, event_id)
    if found is None:
        raise _not_found(event_id)
    payload = require_feed().payloads.get(found["payload_key"]) if "payload_key" in found else None
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
    queue, request, given = require_feed().queue, current_request(router), required("body", body)
    check_text("id", given.get("id"), longest=custom_events.LONGEST_ID)
    check_text("subject", given.get("subject"), longest=custom_events.LONGEST_SUBJECT)
    posted = custom_events.custom_event(
        Posted(
            event_type=given["type"],
            data=given.get("data", {}),
            client_id=given.get("id"),
            occurred_at=given.get("time"),
            subject=given.get("subject"),
        ),
        installation_id=installation_id,
        caller_id=request.caller.id,
        now=request.now,
        source_ip=request.source_ip,
        correlation_id=request.id,
    )
    if not is_kept(posted.event_type, queue.types):
        raise InvalidParameter("type", "isn't stored by this deployment: see the setting feed_types")
    if not require_feed().posts.count(installation_id, at=request.now):
        most = require_feed().posts.most_per_minute
        raise TooManyRequests(f"This installation has reached its limit of {most} posts a minute: try again later")
    queue.send([posted])
    return {"id": posted.event_id}


def _position(installation_id: int, event_id: str) -> str:
    table = require_feed().table
    position = table.position_of(installation_id, event_id)
    if position is None or not table.exists(installation_id, position):
        raise _not_found(event_id)
    return position


def _log_move(installation_id: int, name: str, *, before: str | None, after: str | None) -> None:
    """In addition to the line `admin action`, which contains the caller."""
    about = {"installation_id": installation_id, "consumer": name, "position_before": before, "position": after}
    logs.logger.info("consumer moved", extra=about)


def _not_found(event_id: str) -> NotFound:
    return NotFound(f"Event {event_id} was not found, or has expired")


def _body(item: Mapping[str, Any], payload: str | None = None) -> Any:
    return envelope(item, written_at=written_at(item[schema.SORT]), payload=payload)


def _consumer(name: str, stored: Mapping[str, Any]) -> Any:
    time, _, event_id = stored["position"].partition("#")
    return {"name": name, "event_id": event_id, "written_at": time, "acknowledged_at": stored["acknowledged_at"]}
