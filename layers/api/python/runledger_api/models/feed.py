"""The event feed: CloudEvents 1.0, consumers and posted events."""

from typing import Any, NotRequired

from typing_extensions import TypedDict


class CloudEvent(TypedDict):
    """CloudEvents 1.0; docs/feed.md describes the types and the extensions.

    In lists, an event whose data is larger than 64 KB has `dataref`, its own address, instead of `data`. Data that
    can't be returned as JSON is in `data_base64`.
    """

    specversion: str
    id: str
    source: str
    type: str
    subject: str
    time: str
    datacontenttype: str
    dataschema: NotRequired[str]
    writtenat: str
    deliverystatus: str
    retrycount: int
    origin: NotRequired[str]
    correlationid: NotRequired[str]
    data: NotRequired[Any]
    data_base64: NotRequired[str]
    dataref: NotRequired[str]


class CloudEvents(TypedDict):
    items: list[CloudEvent]
    next_cursor: str | None


class NextEvents(TypedDict):
    """The events after the consumer's position, oldest first. `more` is whether others follow."""

    items: list[CloudEvent]
    more: bool


class PostedEvent(TypedDict):
    """A custom event. The field names are those of CloudEvents."""

    type: str
    data: NotRequired[Any]
    id: NotRequired[str]
    time: NotRequired[str]
    subject: NotRequired[str]


class AcceptedEvent(TypedDict):
    """The `id` of the event in the feed."""

    id: str


class Acknowledgement(TypedDict):
    """`id` is the last event that was processed."""

    id: str


class Consumer(TypedDict):
    """`event_id` is the last event that was acknowledged, and `written_at` when it was written to the feed."""

    name: str
    event_id: str
    written_at: str
    acknowledged_at: str


class Consumers(TypedDict):
    items: list[Consumer]
    next_cursor: str | None
