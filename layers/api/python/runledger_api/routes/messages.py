"""Messages of notifications: lists, one message, texts of people, and failed messages that are sent again."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model import times
from runledger.model.errors import Malformed
from runledger.model.messages import UNENDED
from runledger.model.messages import MessageStatus as Status
from runledger.notifications.administration import Author, Contended, NotSendable, TooManyMessages
from runledger.notifications.channels.delivery import ChannelKind
from runledger.tables.messages import MessageFilter
from runledger.tables.pages import Span

from runledger_api import parameters, wiring
from runledger_api.authentication import Role
from runledger_api.authorization import requires
from runledger_api.errors import Conflict, InvalidParameter, NotFound, TooManyRequests
from runledger_api.models.notifications import (
    Message,
    Messages,
    MessageStatus,
    NotificationsSummary,
    PostedMessage,
    PostedMessages,
)
from runledger_api.pagination import Paginator
from runledger_api.parameters import Cursor, InstallationId, Limit, Since, Until
from runledger_api.request import Request, current_request
from runledger_api.validation import DAY
from runledger_api.wiring import Notifications

router = APIGatewayHttpRouter()
INSTALLATION = "/v1/installations/<installation_id>"
MESSAGES = f"{INSTALLATION}/messages"
ID = r"^[0-9a-f]{32}$"
TYPE = r"^[a-z][a-z0-9_.]{1,99}$"
MessageId = Annotated[str, Path(pattern=ID, description="`message_id` of the message")]
Day = Annotated[
    str | None,
    Query(pattern=r"^\d{4}-\d{2}-\d{2}$", description="only messages created on this day (UTC), instead of a range"),
]
LONGEST_ID = 100


@router.get(
    f"{INSTALLATION}/notifications",
    tags=["notifications"],
    operation_id="getNotifications",
    summary="Messages by status, and the channels of this deployment",
)
def summary(installation_id: InstallationId, since: Since = "24h") -> NotificationsSummary:
    found, request = notifications(), current_request(router)
    begin = parameters.instant("since", since, request) or request.now
    counts = {status: found.messages.count(installation_id, status, Span(since=begin)) for status in Status}
    ended = counts[Status.COMPLETED] + counts[Status.FAILED]
    oldest = [each for status in UNENDED if (each := found.messages.oldest(installation_id, status))]
    channels = found.administration.channels
    kinds: Any = [kind for kind in ChannelKind if _is_available(kind)]
    return {
        "since": begin,
        "messages": {status.value: number for status, number in counts.items()},
        "success_rate": round(100 * counts[Status.COMPLETED] / ended, 1) if ended else None,
        "oldest_waiting_at": min(oldest, default=None),
        "kinds": kinds,
        "sns_topics": sorted(channels.sns_topics),
        "event_buses": sorted(channels.event_buses),
    }


@router.get(
    MESSAGES,
    tags=["notifications"],
    operation_id="listMessages",
    summary="Messages, newest first",
    description="A page may be short and still have a `next_cursor`.",
)
def messages(
    *,
    installation_id: InstallationId,
    status: Annotated[MessageStatus | None, Query(description="only messages with this status")] = None,
    type: Annotated[str | None, Query(pattern=TYPE, description="only messages of this type")] = None,  # noqa: A002
    subscription: Annotated[str | None, Query(pattern=ID, description="only messages of this subscription")] = None,
    day: Day = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Messages:
    table, request = notifications().messages, current_request(router)
    span = _day(day) if day else parameters.span(request, since, until)
    if day and (since or until):
        raise InvalidParameter("day", "should be given without since and until")
    paginator = Paginator(wiring.cursors(), request, cursor, span)
    found = table.page(
        installation_id,
        MessageFilter(status=status, message_type=type, subscription_id=subscription),
        paginator.span,
        limit=limit,
        start=paginator.start,
        has_time=request.has_time,
    )
    return paginator.page(found.messages, found.next_key)


@router.get(
    f"{MESSAGES}/<message_id>",
    tags=["notifications"],
    operation_id="getMessage",
    summary="One message, with its payload",
)
def message(installation_id: InstallationId, message_id: MessageId) -> Message:
    return message_body(installation_id, message_id)


@router.post(
    MESSAGES,
    tags=["notifications"],
    operation_id="postMessage",
    summary="Send a custom text to one subscription, or to all enabled ones except launchers",
    description="Requires the role operator.",
    status_code=202,
)
@requires(Role.OPERATOR)
def post(installation_id: InstallationId, body: Annotated[PostedMessage | None, Body()] = None) -> PostedMessages:
    administration, request = notifications().administration, current_request(router)
    if body is None:
        raise InvalidParameter("body", "is missing")
    values: dict[str, Any] = dict(body)
    to, own_id = values.pop("subscription_id", None), values.pop("id", None)
    if own_id is not None and not (0 < len(own_id) <= LONGEST_ID and own_id.isprintable()):
        raise InvalidParameter("id", f"should be printable text of 1 to {LONGEST_ID} characters")
    with explained():
        sent = administration.post(installation_id, values, author(request), to=to, own_id=own_id)
    return {"items": [message_body(installation_id, each.message_id) for each in sent]}


@router.post(
    f"{MESSAGES}/<message_id>/send-again",
    tags=["notifications"],
    operation_id="sendAgain",
    summary="Send a failed message again",
    description="Requires the role operator. The result is a new message; repeated requests return the same one.",
    status_code=202,
)
@requires(Role.OPERATOR)
def send_again(installation_id: InstallationId, message_id: MessageId) -> Message:
    found = _stored(installation_id, message_id)
    with explained():
        again = notifications().administration.send_again(found, author(current_request(router)))
    return message_body(installation_id, again.message_id)


def notifications() -> Notifications:
    found = wiring.notifications()
    if found is None:
        raise NotFound("This deployment has no notifications: the setting notifications turns them on")
    return found


def author(request: Request) -> Author:
    return Author(id=request.caller.id, at=request.now, correlation_id=request.id)


@contextmanager
def explained() -> Iterator[None]:
    """Errors of the domain, as errors of the API."""
    try:
        yield
    except Malformed as malformed:
        raise InvalidParameter(malformed.field, malformed.problem) from None
    except NotSendable as problem:
        raise Conflict(str(problem)) from None
    except TooManyMessages as problem:
        raise TooManyRequests(str(problem)) from None
    except Contended:
        raise Conflict("The subscription was changed at the same time: read it again") from None


def message_body(installation_id: int, message_id: str) -> Any:
    found = _stored(installation_id, message_id)
    return {**found, "payload": notifications().messages.payload(installation_id, message_id) or {}}


def _stored(installation_id: int, message_id: str) -> Mapping[str, Any]:
    found = notifications().messages.get(installation_id, message_id)
    if found is None:
        raise NotFound(f"Message {message_id} was not found, or has expired")
    return found


def _is_available(kind: ChannelKind) -> bool:
    """Channels whose targets come from settings need one."""
    channels = notifications().administration.channels
    targets = {ChannelKind.SNS: channels.sns_topics, ChannelKind.EVENTBRIDGE: channels.event_buses}
    return bool(targets.get(kind, True))


def _day(day: str) -> Span:
    try:
        begin = times.normalised(day)
    except ValueError:
        raise InvalidParameter("day", DAY) from None
    return Span(since=begin, until=times.earlier(begin, seconds=-times.SECONDS_PER_DAY))
