"""Notifications in memory: the real router, sender, sweep and tables, with receivers that tests control."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from runledger.model import times
from runledger.notifications.channels.interface import ChannelKind, Outgoing, SendResult
from runledger.notifications.event_status import EventStatus
from runledger.notifications.filters import EventFilter
from runledger.notifications.outbox import Outbox
from runledger.notifications.queue import Lane, NotificationQueue, QueuedMessage, read
from runledger.notifications.receivers import Receivers
from runledger.notifications.routing import Router
from runledger.notifications.sender import Sender, Sent
from runledger.notifications.subscription_cache import SubscriptionCache
from runledger.notifications.subscriptions import Subscription
from runledger.notifications.sweep import Sweep
from runledger.tables import schema
from runledger.tables.attributes import from_attributes, to_attributes
from runledger.tables.event_messages import EventMessagesTable
from runledger.tables.feed import FeedTable
from runledger.tables.message_counts import MessageCounts
from runledger.tables.messages import MessagesTable
from runledger.tables.receivers import ReceiversTable
from runledger.tables.subscriptions import SubscriptionsTable

SCOPE = 7
NOON = "2025-01-15T12:00:00.000Z"
TABLE = schema.NOTIFICATIONS.name
URLS = {Lane.FAST: "https://sqs.invalid/fast", Lane.SLOW: "https://sqs.invalid/slow"}


@dataclass
class Clock:
    now: str = NOON

    def __call__(self) -> str:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now = times.earlier(self.now, seconds=-seconds)

    def seconds(self) -> float:
        return times.ms_between(NOON, self.now) / times.MS_PER_SECOND


class Queues:
    """SQS: standard queues with delays. Each message has the group of its installation, which orders nothing."""

    def __init__(self, clock: Callable[[], str]) -> None:
        self.clock, self.entries = clock, list[tuple[str, str, str]]()

    def send_message(
        self,
        *,
        QueueUrl: str,  # noqa: N803
        MessageBody: str,  # noqa: N803
        MessageGroupId: str,  # noqa: N803
        DelaySeconds: int = 0,  # noqa: N803
    ) -> dict[str, str]:
        assert 0 <= DelaySeconds <= 900
        assert str(read(MessageBody).installation_id) == MessageGroupId
        self.entries.append((times.earlier(self.clock(), seconds=-DelaySeconds), QueueUrl, MessageBody))
        return {}

    def take(self, url: str | None = None) -> QueuedMessage | None:
        """The first entry that is visible now, of one queue or of any."""
        visible = [each for each in sorted(self.entries) if each[0] <= self.clock() and url in (None, each[1])]
        if not visible:
            return None
        self.entries.remove(visible[0])
        return read(visible[0][2])


@dataclass
class Channel:
    """What each receiver does, and what it has received."""

    clock: Clock
    behaviour: dict[str, Callable[[Outgoing], SendResult]] = field(default_factory=dict)
    takes_seconds: dict[str, float] = field(default_factory=dict)
    received: list[tuple[str, Outgoing]] = field(default_factory=list)

    def open(self, subscription: Subscription) -> "Opened":
        return Opened(self, subscription.subscription_id)

    def ids(self, subscription_id: str) -> list[str]:
        return [sent.message_id for own_id, sent in self.received if own_id == subscription_id]


@dataclass
class Opened:
    channel: Channel
    subscription_id: str

    def send(self, outgoing: Outgoing) -> SendResult:
        channel, own_id = self.channel, self.subscription_id
        channel.received.append((own_id, outgoing))
        channel.clock.advance(channel.takes_seconds.get(own_id, 0.1))
        behave = channel.behaviour.get(own_id)
        return behave(outgoing) if behave else SendResult.accepted(f"n{len(channel.received)}")


@dataclass
class Scene:
    """`client` is DynamoDB's, `sqs` takes what is queued."""

    client: Any
    clock: Clock = field(default_factory=Clock)
    sqs: Any = None
    channel: Any = None
    dice: float = 0.5
    most_per_hour: int = 10_000

    def __post_init__(self) -> None:
        self.sqs = self.sqs or Queues(self.clock)
        self.channel = self.channel or Channel(self.clock)
        self.queue = NotificationQueue(sqs=self.sqs, urls=URLS)
        self.messages = MessagesTable(self.client, TABLE, retention_days=90)
        self.event_messages = EventMessagesTable(self.client, TABLE, retention_days=90)
        self.subscriptions = SubscriptionsTable(self.client, TABLE)
        self.feed = FeedTable(self.client, schema.FEED.name, retention_days=30)
        self.outbox = Outbox(messages=self.messages, queue=self.queue, now=self.clock)
        self.receivers = Receivers(table=ReceiversTable(self.client, TABLE))

    @property
    def cache(self) -> SubscriptionCache:
        """A new one, as in a new process."""
        return SubscriptionCache(table=self.subscriptions, clock=lambda: 0.0)

    @property
    def router(self) -> Router:
        return Router(
            subscriptions=self.cache, event_messages=self.event_messages, outbox=self.outbox, counts=self.counts
        )

    @property
    def counts(self) -> MessageCounts:
        return MessageCounts(self.client, TABLE, most_per_hour=self.most_per_hour)

    @property
    def sweep(self) -> Sweep:
        return Sweep(messages=self.messages, queue=self.queue, now=self.clock)

    @property
    def sender(self) -> Sender:
        return Sender(
            messages=self.messages,
            subscriptions=self.cache,
            receivers=self.receivers,
            events=EventStatus(feed=self.feed, event_messages=self.event_messages),
            queue=self.queue,
            open_channel=self.channel.open,
            now=self.clock,
            dice=lambda: self.dice,
        )

    def subscribe(self, number: int = 1, *, types: tuple[str, ...] = ("job.*",), **changes: Any) -> Subscription:
        filters = {name: changes.pop(name) for name in ("repositories", "branches", "conclusions") if name in changes}
        made = Subscription(
            **{
                "installation_id": SCOPE,
                "subscription_id": f"{number:032x}",
                "name": f"subscription {number}",
                "kind": ChannelKind.WEBHOOK,
                "created_at": NOON,
                "created_by": "token:olga",
                "updated_at": NOON,
                "config": {"url": "https://receiver.example/hook"},
                "filter": EventFilter(types=types, **filters),
                **changes,
            }
        )
        self.subscriptions.create(made.to_item())
        return made

    def publish(self, number: int = 1, **changes: Any) -> dict[str, Any]:
        """An event in the feed, as its stream has it."""
        item = event(number, **changes)
        position = item.pop("SK")
        item.pop("PK")
        self.feed.put(item, position)
        self.feed.mark(item["installation_id"], item["event_id"], position)
        return item | {"SK": position}

    def route(self, number: int = 1, **changes: Any) -> dict[str, Any]:
        item = self.publish(number, **changes)
        self.router.route(self.stored_event(item["event_id"]))
        return item

    def stored_event(self, event_id: str) -> dict[str, Any]:
        found = self.feed.get(SCOPE, event_id)
        assert found is not None
        return found

    def step(self, lane: Lane | None = None) -> Sent | None:
        """Processes one entry of the queue; None if none is visible."""
        entry = self.sqs.take(URLS[lane] if lane else None)
        return self.sender.process(entry) if entry else None

    def drain(self) -> list[Sent]:
        found = []
        while (done := self.step()) is not None:
            found.append(done)
        return found

    def live(self, hours: float, *, every_seconds: int = 300) -> None:
        """Time passes: entries are processed when they are visible, and the sweep runs on its schedule."""
        end = times.earlier(self.clock(), seconds=-hours * times.SECONDS_PER_HOUR)
        while self.clock() < end:
            self.drain()
            self.sweep.run()
            self.drain()
            self.clock.advance(every_seconds)

    def all(self) -> list[dict[str, Any]]:
        """Messages, in the order of their ids."""
        items = map(from_attributes, self.client.scan(TableName=TABLE)["Items"])
        return sorted((each for each in items if "message_type" in each), key=lambda each: str(each["message_id"]))


def event(number: int = 1, *, event_type: str = "job.failed", **data: Any) -> dict[str, Any]:
    event_id, at = f"{number:032x}", times.earlier(NOON, seconds=-number)
    payload = {
        "installation_id": SCOPE,
        "job_id": number,
        "status": "completed",
        "created_at": NOON,
        "repo_full_name": "acme/storefront",
        "head_branch": "main",
        "conclusion": "failure",
        **data,
    }
    return {
        "PK": str(SCOPE),
        "SK": f"{at}#{event_id}",
        "installation_id": SCOPE,
        "event_id": event_id,
        "event_type": event_type,
        "occurred_at": at,
        "subject": f"jobs/{number}",
        "status": "received",
        "retry_count": 0,
        "payload": json.dumps({name: value for name, value in payload.items() if value is not None}),
        "metadata": {"source": "workflow_jobs", "correlation_id": f"c{number}"},
    }


def record(item: Mapping[str, Any], number: int = 1, *, name: str = "INSERT") -> dict[str, Any]:
    return {
        "eventID": f"e{number}",
        "eventName": name,
        "eventSourceARN": "arn:aws:dynamodb:us-east-1:000000000000:table/feed/stream/2025-01-15T10:00:00.000",
        "dynamodb": {"SequenceNumber": str(number), "NewImage": to_attributes(item)},
    }
