"""Notification messages: list, read and post them, and send failed ones again."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model.messages import OPEN_STATUSES
from runledger.model.messages import MessageStatus as Status
from runledger.notifications.channels.interface import ChannelKind
from runledger.tables.messages import MessageFilter
from runledger.tables.pages import Span

from runledger_api import parameters, wiring
from runledger_api.authentication import Role
from runledger_api.authorization import requires
from runledger_api.errors import InvalidParameter
from runledger_api.features import require_notifications
from runledger_api.models.notifications import (
    Message,
    Messages,
    MessageStatus,
    NotificationsSummary,
    PostedMessage,
    PostedMessages,
)
from runledger_api.notification_requests import author, message_body, stored_message
from runledger_api.pagination import Paginator
from runledger_api.parameters import (
    DATE,
    EVENT_TYPE,
    GENERATED_ID,
    INSTALLATION,
    Cursor,
    InstallationId,
    Limit,
    Since,
    Until,
    check_text,
    required,
)
from runledger_api.request import current_request

router = APIGatewayHttpRouter()
MESSAGES = f"{INSTALLATION}/messages"
MessageId = Annotated[str, Path(pattern=GENERATED_ID, description="`message_id` of the message")]
Day = Annotated[
    str | None,
    Query(pattern=DATE, description="only messages created on this day (UTC), instead of a range"),
]
LONGEST_ID = 100


@router.get(
    f"{INSTALLATION}/notifications",
    tags=["notifications"],
    operation_id="getNotifications",
    summary="Messages by status, and the channels of this deployment",
)
def summary(installation_id: InstallationId, since: Since = "24h") -> NotificationsSummary:
    found, request = require_notifications(), current_request(router)
    begin = parameters.instant("since", since, request) or request.now
    counts = {status: found.messages.count(installation_id, status, Span(since=begin)) for status in Status}
    ended = counts[Status.COMPLETED] + counts[Status.FAILED]
    oldest = [each for status in OPEN_STATUSES if (each := found.messages.oldest(installation_id, status))]
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
    type: Annotated[str | None, Query(pattern=EVENT_TYPE, description="only messages of this type")] = None,  # noqa: A002
    subscription: Annotated[
        str | None, Query(pattern=GENERATED_ID, description="only messages of this subscription")
    ] = None,
    day: Day = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Messages:
    table, request = require_notifications().messages, current_request(router)
    span = parameters.day_span(day) if day else parameters.span(request, since, until)
    if day and (since or until):
        raise InvalidParameter("day", "can't be combined with since and until")
    paginator = Paginator(wiring.cursors(), request, cursor, span)
    found = table.page(
        installation_id,
        MessageFilter(status=status, message_type=type, subscription_id=subscription),
        paginator.span,
        limit=limit,
        start=paginator.start,
        has_time=request.has_time,
    )
    return paginator.page(found.items, found.next_key)


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
    administration, request = require_notifications().administration, current_request(router)
    values: dict[str, Any] = dict(required("body", body))
    to, client_id = values.pop("subscription_id", None), values.pop("id", None)
    check_text("id", client_id, longest=LONGEST_ID)
    sent = administration.post(installation_id, values, author(request), to=to, client_id=client_id)
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
    found = stored_message(installation_id, message_id)
    again = require_notifications().administration.send_again(found, author(current_request(router)))
    return message_body(installation_id, again.message_id)


def _is_available(kind: ChannelKind) -> bool:
    """SNS and EventBridge need a target in the settings."""
    channels = require_notifications().administration.channels
    targets = {ChannelKind.SNS: channels.sns_topics, ChannelKind.EVENTBRIDGE: channels.event_buses}
    return bool(targets.get(kind, True))
