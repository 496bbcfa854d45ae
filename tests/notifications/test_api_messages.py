"""Messages over the API: lists, tests, texts of people, and failed messages that are sent again."""

from typing import Any

import pytest

from tests.api.client import NOON, Client
from tests.functions.conftest import World
from tests.notifications.api_scene import (
    HERE,
    MESSAGES,
    UNKNOWN,
    api,
    client,
    created,
    fail,
    ledger,
    path,
    queued,
    world,
)
from tests.notifications.scenes import Scene
from tests.support.memory import engine
from tests.support.webhooks import INSTALLATION

__all__ = ["api", "client", "ledger", "world"]


def test_a_test_message_is_created_and_queued(client: Client, world: World) -> None:
    made = created(client)
    response = client.post(f"{path(made)}/test")
    assert response.status == 202
    message = response.body
    assert (message["status"], message["message_type"], message["created_by"]) == (
        *("queued", "runledger.test"),
        "token:olga",
    )
    assert message["payload"]["data"]["text"].startswith("This is a test of the subscription Pager")
    assert [each.message_id for each in queued(world)] == [message["message_id"]]
    assert client.get(f"{MESSAGES}/{message['message_id']}").body == message


def test_a_disabled_subscription_cant_be_tested(client: Client, world: World) -> None:
    made = created(client, enabled=False)
    response = client.post(f"{path(made)}/test")
    assert (response.status, response.body["detail"]) == (
        409,
        "This subscription is disabled: enable it, then test it",
    )
    assert queued(world) == []


def test_messages_of_a_list_have_the_first_line_of_what_is_sent(client: Client) -> None:
    created(client)
    client.post(MESSAGES, {"text": "x", "title": "Maintenance " * 10})
    (listed,) = client.get(MESSAGES).body["items"]
    assert "payload" not in listed
    assert (listed["title"][:23], len(listed["title"])) == ("Maintenance Maintenance", 100)


def test_only_a_failed_message_is_marked_as_sent_again(client: Client) -> None:
    made = created(client)
    message = client.post(f"{path(made)}/test").body
    table = Scene(engine()).messages
    assert not table.mark_resent(INSTALLATION, message["message_id"], resent_as=UNKNOWN)
    assert not table.mark_resent(INSTALLATION, UNKNOWN, resent_as=message["message_id"])
    assert client.get(f"{MESSAGES}/{message['message_id']}").body == message
    assert client.get(f"{MESSAGES}/{UNKNOWN}").status == 404


def test_a_text_goes_to_all_enabled_subscriptions_or_to_one_and_once_for_each_id(client: Client) -> None:
    first, second = created(client), created(client, name="second")
    created(client, name="third", enabled=False)
    text = {"text": "The runners are down for maintenance", "priority": 4, "tags": ["warning"]}
    sent = client.post(MESSAGES, text | {"id": "m1"})
    assert sent.status == 202
    targets = {each["subscription_id"] for each in sent.body["items"]}
    assert targets == {first["subscription_id"], second["subscription_id"]}
    again = client.post(MESSAGES, text | {"id": "m1"})
    assert {each["message_id"] for each in again.body["items"]} == {each["message_id"] for each in sent.body["items"]}
    assert len(client.get(MESSAGES).body["items"]) == 2
    (one,) = client.post(MESSAGES, text | {"id": "m2", "subscription_id": second["subscription_id"]}).body["items"]
    assert (one["subscription_id"], one["payload"]["type"]) == (second["subscription_id"], "runledger.message")
    assert client.post(MESSAGES, text | {"subscription_id": UNKNOWN}).status == 409


def test_a_second_text_with_the_same_id_never_replaces_the_first(client: Client) -> None:
    created(client)
    (first,) = client.post(MESSAGES, {"text": "first", "id": "m1"}).body["items"]
    (again,) = client.post(MESSAGES, {"text": "second", "id": "m1"}).body["items"]
    assert (again["message_id"], again["payload"]["data"]) == (first["message_id"], {"text": "first"})


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        ({}, "text"),
        ({"text": " "}, "text"),
        ({"text": "x" * 4001}, "text"),
        ({"text": "x", "priority": 6}, "priority"),
        ({"text": "x", "click_url": "javascript:alert(1)"}, "click_url"),
        ({"text": "x", "tags": ["a"] * 6}, "tags"),
        ({"text": "x", "id": ""}, "id"),
    ],
)
def test_an_invalid_text_is_rejected(client: Client, body: dict[str, Any], parameter: str) -> None:
    created(client)
    response = client.post(MESSAGES, body)
    assert (response.status, response.body["errors"][0]["parameter"]) == (400, parameter)


def test_only_a_failed_message_can_be_sent_again_as_one_new_message(client: Client) -> None:
    made = created(client)
    message = client.post(f"{path(made)}/test").body
    again = f"{MESSAGES}/{message['message_id']}/send-again"
    assert client.post(again).status == 409
    fail(client, message)
    first, second = client.post(again), client.post(again)
    assert (first.status, second.body["message_id"]) == (202, first.body["message_id"])
    assert (first.body["resent_from"], first.body["status"]) == (message["message_id"], "queued")
    assert first.body["payload"] == message["payload"]
    old = client.get(f"{MESSAGES}/{message['message_id']}").body
    assert (old["status"], old["error_message"]) == ("failed", "The receiver returned 500")
    assert old["resent_as"] == first.body["message_id"]
    assert client.post(f"{MESSAGES}/{UNKNOWN}/send-again").status == 404


def test_messages_are_listed_by_status_type_day_and_subscription_with_cursors(client: Client) -> None:
    first, second = created(client), created(client, name="second")
    for number in range(5):
        client.post(MESSAGES, {"text": "x", "id": str(number)})
    message = client.post(f"{path(first)}/test").body
    fail(client, message)

    def listed(**query: Any) -> list[str]:
        found, cursor = list[str](), None
        while True:
            response = client.get(MESSAGES, limit=3, cursor=cursor, **query)
            assert response.status == 200, response.body
            found += [each["message_id"] for each in response.body["items"]]
            assert all("payload" not in each for each in response.body["items"])
            if not (cursor := response.body["next_cursor"]):
                return found

    assert len(set(listed())) == len(listed()) == 11
    assert listed(status="failed") == listed(type="runledger.test") == [message["message_id"]]
    assert len(listed(status="queued", type="runledger.message")) == 10
    assert len(listed(subscription=second["subscription_id"])) == 5
    assert (len(listed(day="2025-01-15")), len(listed(day="2025-01-14"))) == (11, 0)
    assert (len(listed(since="1h")), len(listed(until="1h"))) == (11, 0)
    for query in ({"day": "2025-02-30"}, {"status": "sent"}, {"day": "2025-01-15", "since": "1h"}):
        assert client.get(MESSAGES, **query).status == 400


def test_the_summary_counts_messages_and_lists_the_channels(client: Client) -> None:
    empty = client.get(f"{HERE}/notifications").body
    assert (empty["success_rate"], empty["oldest_waiting_at"]) == (None, None)
    assert (empty["sns_topics"], empty["event_buses"]) == (["builds"], [])
    assert empty["kinds"] == ["webhook", "slack", "ntfy", "sns", "relaunch"]
    made = created(client)
    fail(client, client.post(f"{path(made)}/test").body)
    client.post(MESSAGES, {"text": "x"})
    found = client.get(f"{HERE}/notifications").body
    assert found["messages"] == {"created": 0, "queued": 1, "processing": 0, "completed": 0, "failed": 1}
    assert (found["success_rate"], found["oldest_waiting_at"]) == (0.0, NOON)
