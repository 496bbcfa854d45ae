"""Secrets of subscriptions: none leaves with a change of the receiver, and none stays behind without a subscription."""

import json
from typing import Any

import boto3
import pytest
from runledger.model.errors import UnavailableError
from runledger.notifications.administration import MESSAGES_OF_A_CREATION, Administration
from runledger.notifications.messages import Author
from runledger.notifications.outbox import Outbox
from runledger.notifications.queue import NotificationQueue
from runledger.notifications.secrets import SecretStore
from runledger.tables.message_counts import MessageCounts
from runledger.tables.messages import MessagesTable
from runledger.tables.receivers import ReceiversTable
from runledger.tables.subscriptions import SubscriptionsTable
from runledger.wiring import notifications as wiring

from tests.api.client import NOON, Client
from tests.functions.conftest import World
from tests.notifications.api_scene import PREFIX, WEBHOOK, api, client, create, created, ledger, patch, path, world
from tests.support.channels import channel_settings
from tests.support.memory import engine
from tests.support.webhooks import INSTALLATION

__all__ = ["api", "client", "ledger", "world"]

TOPIC = "https://ntfy.example/builds"
HALF = "\ud800"  # of a surrogate pair: JSON can escape it, and no service can store it


def own_secrets() -> list[str]:
    """The names of those that aren't deleted."""
    names = [each["Name"] for each in boto3.client("secretsmanager").list_secrets()["SecretList"]]
    return [name for name in names if name.startswith(PREFIX)]


@pytest.mark.parametrize("url", ["https://attacker.example/builds", "https://ntfy.example:8443/builds"])
def test_a_token_of_ntfy_is_never_sent_to_another_server(client: Client, url: str) -> None:
    """An operator who can't read the token could receive it in a header."""
    made = created(client, kind="ntfy", config={"url": TOPIC}, secret="tk_of_a_colleague")
    response = patch(client, made, config={"url": url})
    assert (response.status, response.body["errors"][0]["parameter"]) == (400, "config")
    assert client.get(path(made)).body["config"] == {"url": TOPIC}


def test_a_topic_of_the_same_server_and_one_without_a_token_can_be_changed(client: Client) -> None:
    with_token = created(client, kind="ntfy", config={"url": TOPIC}, secret="tk_of_a_colleague")
    assert patch(client, with_token, config={"url": "https://ntfy.example/alerts"}).status == 200
    without = created(client, kind="ntfy", config={"url": TOPIC})
    assert patch(client, without, config={"url": "https://other.example/builds"}).status == 200


def test_webhooks_with_a_launchers_signature_are_never_sent_to_another_server(client: Client) -> None:
    """They contain no time: the new receiver could send them to the launcher again and again."""
    made = created(client, kind="relaunch", types=None, secret="of-the-launcher")
    response = patch(client, made, config={"url": "https://attacker.example/h"})
    assert (response.status, response.body["errors"][0]["parameter"]) == (400, "config")
    assert patch(client, made, config={"url": "https://a.example/another/path"}).status == 200


@pytest.mark.parametrize(
    ("changes", "parameter"),
    [
        ({"repositories": [f"acme/{HALF}"]}, "repositories"),
        ({"branches": [HALF]}, "branches"),
        ({"schedule": {"every": "daily", "hour": 9, "content": "reminder", "text": HALF}}, "schedule.text"),
        ({"kind": "relaunch", "types": None, "secret": f"s{HALF}"}, "secret"),
        ({"kind": "ntfy", "secret": HALF}, "secret"),
    ],
)
def test_text_that_cannot_be_stored_is_rejected_before_a_secret_is_created(
    client: Client, changes: dict[str, Any], parameter: str
) -> None:
    """A secret costs money each month, and without a subscription nothing would delete it."""
    response = create(client, **changes)
    assert (response.status, response.body["errors"][0]["parameter"]) == (400, parameter)
    assert own_secrets() == []


class Unavailable(SubscriptionsTable):
    def create(self, _subscription: Any) -> None:
        raise UnavailableError("notifications")


def test_a_subscription_that_cannot_be_stored_leaves_no_secret(client: Client) -> None:
    assert client
    tables: Any = (engine(), "notifications")
    administration = Administration(
        subscriptions=Unavailable(*tables),
        receivers=ReceiversTable(*tables),
        secrets=SecretStore(client=boto3.client("secretsmanager"), prefix=PREFIX),
        outbox=Outbox(
            messages=MessagesTable(*tables, retention_days=90),
            queue=NotificationQueue(sqs=boto3.client("sqs"), urls={}),
            now=lambda: NOON,
        ),
        channels=channel_settings(),
        counts=MessageCounts(*tables, most_per_hour=MESSAGES_OF_A_CREATION),
    )
    author = Author(id="token:olga", at=NOON, correlation_id="r1", deployment_urls=())
    with pytest.raises(UnavailableError):
        administration.create(INSTALLATION, WEBHOOK, author)
    assert own_secrets() == []


def test_a_secret_that_is_a_url_is_never_replaced_by_our_own(client: Client) -> None:
    made = created(client, kind="ntfy", config={}, secret="https://ntfy.example/a-secret-topic")
    where, host = f"{path(made)}/rotate-secret", "abc.execute-api.us-east-1.amazonaws.com"
    context = {
        "http": {"method": "POST", "path": where},
        "stage": "$default",
        "requestId": "r",
        "timeEpoch": client.now_ms,
        "domainName": host,
    }
    body = json.dumps({"secret": f"https://{host}/topic"})
    response = client.request("POST", where, body=body, requestContext=context)
    assert (response.status, response.body["errors"][0]["parameter"]) == (400, "secret")


def test_creating_and_deleting_subscriptions_is_limited(
    client: Client, monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    """Secrets Manager keeps a deleted secret for a week, and an account has 500,000 secrets at most."""
    assert world
    monkeypatch.setattr(wiring.counts(), "most_per_hour", 2 * MESSAGES_OF_A_CREATION)
    for _ in range(2):
        made = created(client)
        assert client.request("DELETE", path(made)).status == 200
    assert create(client).status == 429
    assert create(client, types=[]).status == 400
