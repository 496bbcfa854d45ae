"""New messages: for a feed event, a test, a user message, a digest or a reminder. Pure."""

import hashlib
from collections.abc import Mapping
from typing import Any

from runledger.feeds.envelope import CONTENT_TYPE, SPEC_VERSION, envelope
from runledger.feeds.events import ID_LENGTH
from runledger.model.dataclass import dataclass
from runledger.notifications.subscriptions import Subscription
from runledger.notifications.texts import RunledgerType, headline
from runledger.notifications.words import clean

FEED, SCHEDULES = "feed", "schedules"  # values of `created_by`; other messages have the id of an API caller
# Every status change rewrites the title too. An item of up to 1 KB costs one write unit.
LONGEST_TITLE = 100
# The event's status at the time of writing, which is of no use to a receiver.
STATE_FIELDS = ("deliverystatus", "retrycount")


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """The creator of a message or subscription, and the time and correlation id of the request.

    `deployment_urls` are the URLs at which the request reached this deployment. Subscriptions can't send to them.
    """

    id: str
    at: str
    correlation_id: str
    deployment_urls: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """`payload` is a CloudEvent. The id is a hash of the message's subject, so each message is created once."""

    installation_id: int
    message_id: str
    subscription_id: str
    message_type: str
    payload: Mapping[str, Any]
    created_at: str
    created_by: str
    correlation_id: str
    event_id: str | None = None
    resent_from: str | None = None

    @property
    def title(self) -> str:
        """Distinguishes the message from others of its type in a list."""
        return clean(headline(self.payload), longest=LONGEST_TITLE)

    def to_item(self) -> dict[str, Any]:
        names = ("installation_id", "message_id", "subscription_id", "message_type", "created_at", "created_by")
        values = {name: getattr(self, name) for name in (*names, "title", "correlation_id", "event_id", "resent_from")}
        return {name: value for name, value in values.items() if value is not None}


def message_id(*identity: object) -> str:
    return hashlib.sha256("\0".join(("message", *map(str, identity))).encode()).hexdigest()[:ID_LENGTH]


def event_envelope(item: Mapping[str, Any], *, written_at: str) -> dict[str, Any]:
    """A feed event as receivers get it. Data over 64 KB is replaced by its address."""
    found = envelope(item, written_at=written_at)
    return {name: value for name, value in found.items() if name not in STATE_FIELDS}


def id_of_event(installation_id: int, event_id: str, subscription_id: str) -> str:
    return message_id(installation_id, event_id, subscription_id)


def of_event(payload: Mapping[str, Any], subscription_id: str, *, installation_id: int, at: str) -> NewMessage:
    event_id = payload["id"]
    return NewMessage(
        installation_id=installation_id,
        message_id=id_of_event(installation_id, event_id, subscription_id),
        subscription_id=subscription_id,
        message_type=payload["type"],
        payload=payload,
        created_at=at,
        created_by=FEED,
        correlation_id=payload.get("correlationid") or event_id,
        event_id=event_id,
    )


def runledger_message_id(kind: RunledgerType, subscription: Subscription, identity: str) -> str:
    return message_id(subscription.installation_id, kind, subscription.subscription_id, identity)


def runledger_message(
    kind: RunledgerType, data: Mapping[str, Any], subscription: Subscription, author: Author, *, identity: str
) -> NewMessage:
    """`identity` distinguishes it from others of its kind: a request, or the time at which a schedule was due."""
    installation_id, found = subscription.installation_id, runledger_message_id(kind, subscription, identity)
    source = f"/v1/installations/{installation_id}"
    payload = {
        "specversion": SPEC_VERSION,
        "id": found,
        "source": source,
        "type": str(kind),
        "subject": f"subscriptions/{subscription.subscription_id}",
        "time": author.at,
        "datacontenttype": CONTENT_TYPE,
        "dataschema": f"urn:runledger:notifications:{kind.partition('.')[2]}:v1",
        "correlationid": author.correlation_id,
        "data": dict(data),
    }
    return NewMessage(
        installation_id=installation_id,
        message_id=found,
        subscription_id=subscription.subscription_id,
        message_type=kind,
        payload=payload,
        created_at=author.at,
        created_by=author.id,
        correlation_id=author.correlation_id,
    )


def sent_again(failed: Mapping[str, Any], payload: Mapping[str, Any], author: Author) -> NewMessage:
    """A new message, because a message's status never goes back. Each failed message is sent again at most once."""
    installation_id, original = failed["installation_id"], failed["message_id"]
    return NewMessage(
        installation_id=installation_id,
        message_id=message_id(installation_id, "again", original),
        subscription_id=failed["subscription_id"],
        message_type=failed["message_type"],
        payload=payload,
        created_at=author.at,
        created_by=author.id,
        correlation_id=author.correlation_id,
        resent_from=original,
    )
