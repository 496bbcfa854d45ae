"""The sender of notifications, with its channels. No other function loads the modules for the network."""

import random
import time
from functools import cache

from runledger.notifications.channels.interface import Channel
from runledger.notifications.channels.opening import Channels
from runledger.notifications.event_status import EventStatus
from runledger.notifications.receivers import Receivers
from runledger.notifications.secrets import SecretReader
from runledger.notifications.sender import Sender
from runledger.notifications.subscriptions import Subscription
from runledger.platform.clients import lazy_client
from runledger.platform.clock import SystemClock
from runledger.wiring import feeds, notifications


@cache
def sender() -> Sender:
    now, channels = SystemClock().text, Channels(settings=notifications.channel_settings())
    secrets = SecretReader(client=lazy_client("secretsmanager"), clock=time.monotonic, now=now)

    def open_channel(subscription: Subscription) -> Channel:
        return channels.open(subscription.kind, subscription.config, secrets.secrets(subscription))

    return Sender(
        messages=notifications.messages(),
        subscriptions=notifications.subscription_cache(),
        receivers=Receivers(table=notifications.receivers()),
        events=EventStatus(feed=feeds.table(), event_messages=notifications.event_messages()),
        queue=notifications.queue(),
        open_channel=open_channel,
        now=now,
        dice=random.random,
    )
