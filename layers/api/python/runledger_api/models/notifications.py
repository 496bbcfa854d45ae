"""Notifications: subscriptions, the health of their receivers, and messages."""

from typing import Any, Literal, NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

Kind = Literal["webhook", "slack", "ntfy", "sns", "eventbridge", "relaunch"]
# A misplaced field is an error: a misplaced secret must not be silently ignored.
STRICT = ConfigDict(extra="forbid")
MessageStatus = Literal["created", "queued", "processing", "completed", "failed"]


@with_config(STRICT)
class ScheduleBody(TypedDict):
    """Daily or weekly, at a full hour. `text` is required for the content `reminder`, and not allowed otherwise."""

    every: Literal["daily", "weekly"]
    hour: int
    timezone: NotRequired[str]
    weekday: NotRequired[Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]]
    content: NotRequired[Literal["digest", "reminder"]]
    text: NotRequired[str]


@with_config(STRICT)
class NewSubscription(TypedDict):
    """`config` and `secret` depend on the `kind`: see docs/notifications.md. A secret can't be read later."""

    name: str
    kind: Kind
    config: NotRequired[dict[str, Any]]
    secret: NotRequired[str]
    types: NotRequired[list[str]]
    repositories: NotRequired[list[str]]
    branches: NotRequired[list[str]]
    conclusions: NotRequired[list[str]]
    at_most_per_hour: NotRequired[int | None]
    schedule: NotRequired[ScheduleBody | None]
    enabled: NotRequired[bool]


@with_config(STRICT)
class SubscriptionChanges(TypedDict):
    """Fields that you omit don't change. Null removes a limit or a schedule."""

    name: NotRequired[str]
    config: NotRequired[dict[str, Any]]
    types: NotRequired[list[str]]
    repositories: NotRequired[list[str]]
    branches: NotRequired[list[str]]
    conclusions: NotRequired[list[str]]
    at_most_per_hour: NotRequired[int | None]
    schedule: NotRequired[ScheduleBody | None]
    enabled: NotRequired[bool]


class Health(TypedDict):
    """The health of a receiver, `unknown` until the first attempt. `failures` counts consecutive failures.

    While the receiver is `paused`, messages wait until `paused_until`.
    """

    status: Literal["unknown", "healthy", "slow", "failing", "paused"]
    failures: int
    paused_until: NotRequired[str]
    last_error: NotRequired[str]
    succeeded_at: NotRequired[str]
    failed_at: NotRequired[str]


class Subscription(TypedDict):
    """`has_secret` is whether it has a secret. Only the request that generates a `secret` returns it."""

    subscription_id: str
    name: str
    kind: Kind
    config: dict[str, Any]
    types: list[str]
    repositories: list[str]
    branches: list[str]
    conclusions: list[str]
    at_most_per_hour: NotRequired[int]
    schedule: NotRequired[ScheduleBody]
    enabled: bool
    has_secret: bool
    created_at: str
    created_by: str
    updated_at: str
    version: int
    previous_secret_until: NotRequired[str]
    health: NotRequired[Health]
    secret: NotRequired[str]


class Subscriptions(TypedDict):
    """All subscriptions: an installation has at most 100."""

    items: list[Subscription]
    next_cursor: None


@with_config(STRICT)
class NewSecret(TypedDict):
    """Without `secret`, one is generated. Only the channel `webhook` supports that."""

    secret: NotRequired[str]


class Message(TypedDict):
    """`payload` is the CloudEvent that is sent; lists omit it. `title` is its title or first line, shortened.

    If a failed message was sent again, `resent_as` is the id of the new message, and its `resent_from` is this one.
    """

    message_id: str
    subscription_id: str
    message_type: str
    title: NotRequired[str]
    status: MessageStatus
    created_at: str
    created_by: str
    updated_at: str
    correlation_id: str
    retry_count: int
    processing_started_at: NotRequired[str]
    processing_completed_at: NotRequired[str]
    next_attempt_at: NotRequired[str]
    error_message: NotRequired[str]
    notification_id: NotRequired[str]
    event_id: NotRequired[str]
    resent_from: NotRequired[str]
    resent_as: NotRequired[str]
    payload: NotRequired[dict[str, Any]]


class Messages(TypedDict):
    items: list[Message]
    next_cursor: str | None


@with_config(STRICT)
class PostedMessage(TypedDict):
    """A custom text, for one subscription or for all enabled ones except launchers.

    With an `id` of your choice, the same message is sent once, however often it is posted with the same token.
    """

    text: str
    title: NotRequired[str]
    priority: NotRequired[int]
    tags: NotRequired[list[str]]
    click_url: NotRequired[str]
    subscription_id: NotRequired[str]
    id: NotRequired[str]


class PostedMessages(TypedDict):
    items: list[Message]


class NotificationsSummary(TypedDict):
    """The number of messages created since `since`, by current status.

    `success_rate` is the percentage of finished messages that completed. `oldest_waiting_at` is the creation time of
    the oldest unfinished message.
    """

    since: str
    messages: dict[MessageStatus, int]
    success_rate: float | None
    oldest_waiting_at: str | None
    kinds: list[Kind]
    sns_topics: list[str]
    event_buses: list[str]
