"""The API of a deployment with notifications, and what tests do with it."""

import json
from typing import Any

import boto3
import pytest
from runledger.notifications.queue import QueuedMessage, read

from tests.api.client import NOON, Client, Response
from tests.api.conftest import api, ledger
from tests.functions.conftest import World, world
from tests.notifications.scenes import Scene
from tests.support.memory import engine
from tests.support.webhooks import INSTALLATION, QUEUED, receipt

__all__ = ["api", "ledger", "world"]

HERE = f"/v1/installations/{INSTALLATION}"
SUBSCRIPTIONS, MESSAGES = f"{HERE}/subscriptions", f"{HERE}/messages"
WEBHOOK = {"name": "Pager", "kind": "webhook", "config": {"url": "https://a.example/h"}, "types": ["job.failed"]}
TOPIC = "arn:aws:sns:us-east-1:123456789012:builds"
UNKNOWN = "0" * 32
PREFIX = "runledger-test/notifications/"


@pytest.fixture
def client(world: World, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Client:
    """The API of a deployment with notifications, and an installation."""
    for name, value in {
        "NOTIFICATIONS_TABLE": "notifications",
        "NOTIFICATIONS_RETENTION_DAYS": "90",
        "NOTIFICATIONS_QUEUE": world.sqs.create_queue(QueueName="fast")["QueueUrl"],
        "NOTIFICATIONS_SLOW_QUEUE": world.sqs.create_queue(QueueName="slow")["QueueUrl"],
        "NOTIFICATION_SECRETS": PREFIX,
        "NOTIFICATIONS_PER_HOUR": "10000",
        "NOTIFICATION_SNS_TOPICS": json.dumps({"builds": TOPIC}),
    }.items():
        monkeypatch.setenv(name, value)
    found: Client = request.getfixturevalue("api")
    request.getfixturevalue("ledger").record(receipt(QUEUED))
    return found


def create(client: Client, **changes: Any) -> Response:
    body = {name: value for name, value in (WEBHOOK | changes).items() if value is not None}
    return client.post(SUBSCRIPTIONS, body)


def created(client: Client, **changes: Any) -> dict[str, Any]:
    response = create(client, **changes)
    assert response.status == 201, response.body
    return dict(response.body)


def path(subscription: dict[str, Any]) -> str:
    return f"{SUBSCRIPTIONS}/{subscription['subscription_id']}"


def patch(client: Client, subscription: dict[str, Any], **changes: Any) -> Response:
    return client.request("PATCH", path(subscription), body=json.dumps(changes))


def queued(world: World) -> list[QueuedMessage]:
    return [read(each["body"]) for each in world.waiting("fast")]


def secret(subscription: dict[str, Any], stage: str = "AWSCURRENT") -> str:
    name = f"{PREFIX}{INSTALLATION}/{subscription['subscription_id']}"
    found = boto3.client("secretsmanager").get_secret_value(SecretId=name, VersionStage=stage)
    return str(found["SecretString"])


def fail(client: Client, message: dict[str, Any]) -> None:
    """Mark a message as failed, as the sender does."""
    assert client
    scene = Scene(engine())
    stored = scene.messages.get(INSTALLATION, message["message_id"])
    assert stored
    assert scene.messages.abandon(stored, at=NOON, error="The receiver returned 500")
