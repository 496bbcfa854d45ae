"""The functions of notifications on moto, with subscriptions whose receivers accept, fail and refuse."""

import json
from typing import Any

import pytest
from runledger.notifications.channels.interface import ChannelKind

from tests.functions.conftest import World
from tests.notifications.scenes import Clock, Scene, event, record
from tests.support.memory import engine


class MotoNotifications:
    """Subscriptions: 1 sends to a topic, 2 to a port without a server, 3 to a topic that doesn't exist."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world = world
        topic = world.client("sns").create_topic(Name="builds")["TopicArn"]
        for name, value in {
            "NOTIFICATIONS_TABLE": "notifications",
            "NOTIFICATIONS_RETENTION_DAYS": "90",
            "FEED_TABLE": "feed",
            "FEED_RETENTION_DAYS": "30",
            "NOTIFICATIONS_QUEUE": world.sqs.create_queue(QueueName="fast")["QueueUrl"],
            "NOTIFICATIONS_SLOW_QUEUE": world.sqs.create_queue(QueueName="slow")["QueueUrl"],
            "NOTIFICATION_ROUTER_DEAD_LETTERS": world.sqs.create_queue(QueueName="discarded")["QueueUrl"],
            "NOTIFICATION_SNS_TOPICS": json.dumps({"builds": topic}),
            "NOTIFICATION_ALLOW_LOOPBACK": "true",
            "NOTIFICATIONS_PER_HOUR": "10000",
        }.items():
            monkeypatch.setenv(name, value)
        self.scene = Scene(engine(), clock=Clock())
        unreachable = {"url": "http://127.0.0.1:9/a-topic"}
        self.scene.subscribe(1, kind=ChannelKind.SNS, config={"target": "builds"}, at_most_per_hour=1)
        self.scene.subscribe(2, kind=ChannelKind.NTFY, config=unreachable)
        self.scene.subscribe(3, kind=ChannelKind.SNS, config={"target": "removed"})

    def route(self, *numbers: int) -> Any:
        for number in numbers:
            self.scene.publish(number)
        records = [record(event(number), number) for number in numbers]
        return self.world.invoke("notification_router", {"Records": records})

    def send(self) -> Any:
        """All that is in the queues now."""
        found = [*self.world.waiting("fast"), *self.world.waiting("slow")]
        return self.world.invoke("notification_sender", {"Records": found}) if found else None

    def tick(self) -> Any:
        return self.world.invoke("notification_schedules", {})

    def statuses(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for message in self.scene.all():
            found.setdefault(message["subscription_id"].lstrip("0"), []).append(message["status"])
        return found
