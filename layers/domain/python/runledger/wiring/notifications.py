"""Notifications: tables, queues, secrets and channels. Only the notification functions and the API load this."""

import json
import time
from collections.abc import Mapping
from functools import cache

from runledger.model.dataclass import dataclass
from runledger.notifications.administration import Administration
from runledger.notifications.channels.configs import SLACK_HOSTS, ChannelSettings
from runledger.notifications.outbox import Outbox
from runledger.notifications.queue import Lane, NotificationQueue
from runledger.notifications.routing import Router
from runledger.notifications.secrets import SecretStore
from runledger.notifications.subscription_cache import SubscriptionCache
from runledger.notifications.sweep import Sweep
from runledger.platform.clients import client, lazy_client
from runledger.platform.clock import SystemClock
from runledger.platform.discarded import DiscardedRecords
from runledger.tables.event_messages import EventMessagesTable
from runledger.tables.message_counts import MessageCounts
from runledger.tables.messages import MessagesTable
from runledger.tables.receivers import ReceiversTable
from runledger.tables.subscriptions import SubscriptionsTable
from runledger.wiring.settings import Settings, TableSettings, names_in, open_table, parsed

TABLE = "NOTIFICATIONS"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSettings(Settings):
    """Read by functions that send messages to the queues. Without a queue, notifications are off."""

    notifications_queue: str = ""
    notifications_slow_queue: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedChannelSettings(Settings):
    """Read by the API, which checks channels, and by the sender, which opens them."""

    notification_sns_topics: Mapping[str, str] = parsed(json.loads, default_factory=dict)
    notification_event_buses: Mapping[str, str] = parsed(json.loads, default_factory=dict)
    notification_slack_hosts: tuple[str, ...] = parsed(names_in, default=SLACK_HOSTS)
    notification_allow_loopback: str = ""
    runner_requests_at_most: int
    stuck_queued_minutes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSettings(Settings):
    notification_secrets: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings(Settings):
    """Read by the router and the API, which create messages."""

    notifications_per_hour: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterSettings(Settings):
    notification_router_dead_letters: str


def is_on() -> bool:
    return bool(QueueSettings.from_environment().notifications_queue)


@cache
def queue() -> NotificationQueue:
    settings = QueueSettings.from_environment()
    urls = {Lane.FAST: settings.notifications_queue, Lane.SLOW: settings.notifications_slow_queue}
    return NotificationQueue(sqs=lazy_client("sqs"), urls=urls)


@cache
def messages() -> MessagesTable:
    return open_table(MessagesTable, TABLE)


@cache
def event_messages() -> EventMessagesTable:
    return open_table(EventMessagesTable, TABLE)


@cache
def subscriptions() -> SubscriptionsTable:
    return SubscriptionsTable(client("dynamodb"), TableSettings.of(TABLE).table)


@cache
def receivers() -> ReceiversTable:
    return ReceiversTable(client("dynamodb"), TableSettings.of(TABLE).table)


@cache
def outbox() -> Outbox:
    return Outbox(messages=messages(), queue=queue(), now=SystemClock().text)


@cache
def counts() -> MessageCounts:
    most = LimitSettings.from_environment().notifications_per_hour
    return MessageCounts(client("dynamodb"), TableSettings.of(TABLE).table, most_per_hour=most)


@cache
def subscription_cache() -> SubscriptionCache:
    return SubscriptionCache(table=subscriptions(), clock=time.monotonic)


@cache
def discarded_records() -> DiscardedRecords:
    url = RouterSettings.from_environment().notification_router_dead_letters
    return DiscardedRecords(sqs=lazy_client("sqs"), url=url)


@cache
def router() -> Router:
    return Router(subscriptions=subscription_cache(), event_messages=event_messages(), outbox=outbox(), counts=counts())


@cache
def sweep() -> Sweep:
    return Sweep(messages=messages(), queue=queue(), now=SystemClock().text)


@cache
def channel_settings() -> ChannelSettings:
    settings = DeployedChannelSettings.from_environment()
    return ChannelSettings(
        sns_topics=settings.notification_sns_topics,
        event_buses=settings.notification_event_buses,
        slack_hosts=settings.notification_slack_hosts,
        runner_requests_at_most=settings.runner_requests_at_most,
        stuck_queued_minutes=settings.stuck_queued_minutes,
        allow_loopback=settings.notification_allow_loopback == "true",
    )


@cache
def administration() -> Administration:
    return Administration(
        subscriptions=subscriptions(),
        receivers=receivers(),
        secrets=SecretStore(
            client=lazy_client("secretsmanager"), prefix=SecretSettings.from_environment().notification_secrets
        ),
        outbox=outbox(),
        channels=channel_settings(),
        counts=counts(),
    )
