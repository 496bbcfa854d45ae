"""Notifications over the API: subscriptions, secrets, messages, and who may do what."""

import json
from typing import Any

import boto3
import pytest
from runledger.notifications.queue import Entry, read
from runledger.recording.ledger import Ledger

from tests.api.client import NOON, TOKENS, Answer, Client
from tests.api.conftest import ELSEWHERE, api, ledger
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
        "NOTIFICATION_SNS_TOPICS": json.dumps({"builds": TOPIC}),
    }.items():
        monkeypatch.setenv(name, value)
    found: Client = request.getfixturevalue("api")
    request.getfixturevalue("ledger").record(receipt(QUEUED))
    return found


def create(client: Client, **changes: Any) -> Answer:
    body = {name: value for name, value in (WEBHOOK | changes).items() if value is not None}
    return client.post(SUBSCRIPTIONS, body)


def created(client: Client, **changes: Any) -> dict[str, Any]:
    answer = create(client, **changes)
    assert answer.status == 201, answer.body
    return dict(answer.body)


def path(subscription: dict[str, Any]) -> str:
    return f"{SUBSCRIPTIONS}/{subscription['subscription_id']}"


def patch(client: Client, subscription: dict[str, Any], **changes: Any) -> Answer:
    return client.ask("PATCH", path(subscription), body=json.dumps(changes))


def queued(world: World) -> list[Entry]:
    return [read(each["body"]) for each in world.waiting("fast")]


def secret(subscription: dict[str, Any], stage: str = "AWSCURRENT") -> str:
    name = f"{PREFIX}{INSTALLATION}/{subscription['subscription_id']}"
    found = boto3.client("secretsmanager").get_secret_value(SecretId=name, VersionStage=stage)
    return str(found["SecretString"])


def fail(client: Client, message: dict[str, Any]) -> None:
    """As the sender does."""
    assert client
    scene = Scene(engine())
    stored = scene.messages.get(INSTALLATION, message["message_id"])
    assert stored
    assert scene.messages.abandon(stored, at=NOON, error="The receiver answered 500")


def test_without_the_setting_there_are_no_notifications_and_me_shows_it(api: Client, ledger: Ledger) -> None:
    ledger.record(receipt(QUEUED))
    assert api.get("/v1/me").body["notifications"] is False
    for answer in (
        *(api.get(each) for each in (SUBSCRIPTIONS, MESSAGES, f"{HERE}/notifications", f"{MESSAGES}/{UNKNOWN}")),
        api.post(SUBSCRIPTIONS, WEBHOOK),
        api.post(MESSAGES, {"text": "hello"}),
    ):
        assert (answer.status, "setting notifications" in answer.body["detail"]) == (404, True)


def test_a_subscription_is_created_listed_changed_and_deleted(client: Client) -> None:
    assert client.get("/v1/me").body["notifications"] is True
    made = created(client, branches=["main"], at_most_per_hour=10)
    assert (made["name"], made["kind"], made["version"], made["created_by"]) == ("Pager", "webhook", 1, "token:olga")
    assert (made["has_secret"], made["health"]["status"]) == (True, "unknown")
    (listed,) = client.get(SUBSCRIPTIONS).body["items"]
    assert listed == {name: value for name, value in made.items() if name != "secret"}
    changed = patch(client, made, name="Night", at_most_per_hour=None, types=["job.*"], enabled=False)
    assert changed.status == 200
    assert (changed.body["name"], changed.body["types"], changed.body["enabled"]) == ("Night", ["job.*"], False)
    assert (changed.body["branches"], changed.body["version"]) == (["main"], 2)
    assert "at_most_per_hour" not in changed.body
    assert client.get(path(made)).body == changed.body
    assert client.ask("DELETE", path(made)).status == 200
    assert client.get(path(made)).status == 404
    assert client.get(SUBSCRIPTIONS).body["items"] == []
    assert client.ask("DELETE", path(made)).status == 404


def test_a_generated_secret_is_returned_once_and_stored_nowhere_but_in_secrets_manager(client: Client) -> None:
    made = created(client)
    assert made["secret"].startswith("whsec_")
    assert secret(made) == made["secret"]
    assert "secret" not in client.get(path(made)).body
    assert made["secret"] not in json.dumps(engine().scan(TableName="notifications")["Items"])


def test_a_given_secret_is_never_returned(client: Client) -> None:
    url = "https://hooks.slack.com/services/T000/B000/not-a-real-token"
    answer = create(client, kind="slack", config={}, secret=url)
    assert answer.status == 201
    for body in (answer.body, client.get(SUBSCRIPTIONS).body, client.get(path(answer.body)).body):
        assert "hooks.slack.com" not in json.dumps(body)
    assert secret(answer.body) == url


def test_a_rotation_keeps_the_previous_secret_for_a_day(client: Client) -> None:
    made = created(client)
    rotated = client.post(f"{path(made)}/rotate-secret")
    assert rotated.status == 200
    assert rotated.body["secret"] not in ("", made["secret"])
    assert rotated.body["previous_secret_until"] == "2025-01-16T12:00:00.000Z"
    assert (secret(made), secret(made, "AWSPREVIOUS")) == (rotated.body["secret"], made["secret"])
    assert client.post(f"{path(made)}/rotate-secret", {"secret": "short"}).status == 400
    topic = created(client, kind="sns", config={"target": "builds"})
    assert (topic["has_secret"], client.post(f"{path(topic)}/rotate-secret").status) == (False, 409)


def test_a_deleted_subscription_has_no_secret(client: Client) -> None:
    made = created(client)
    client.ask("DELETE", path(made))
    secrets = boto3.client("secretsmanager")
    with pytest.raises(secrets.exceptions.InvalidRequestException):
        secret(made)


@pytest.mark.parametrize(
    ("changes", "parameter"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"types": []}, "types"),
        ({"types": ["Job.Failed"]}, "types"),
        ({"types": ["x"] * 51}, "types"),
        ({"config": {"url": "http://a.example/"}}, "url"),
        ({"config": {"url": "https://127.0.0.1/"}}, "url"),
        ({"config": {"url": "https://a.example", "method": "PUT"}}, "method"),
        ({"config": {}}, "url"),
        ({"secret": "whsec_short"}, "secret"),
        ({"at_most_per_hour": 0}, "at_most_per_hour"),
        ({"at_most_per_hour": 201}, "at_most_per_hour"),
        ({"repositories": ["a b"]}, "repositories"),
        ({"conclusions": ["great"]}, "conclusions"),
        ({"schedule": {"every": "daily", "hour": 24}}, "schedule.hour"),
        ({"schedule": {"every": "daily", "hour": 9, "timezone": "Mars/Olympus"}}, "schedule.timezone"),
        ({"schedule": {"every": "daily", "hour": 9, "timezone": "../etc/passwd"}}, "schedule.timezone"),
        ({"schedule": {"every": "daily", "hour": 9, "content": "reminder"}}, "schedule.text"),
        ({"schedule": {"every": "daily", "hour": 9, "text": "hello"}}, "schedule.text"),
        ({"kind": "sns", "config": {"target": "other"}}, "target"),
        ({"kind": "relaunch", "types": ["job.failed"], "secret": "s"}, "types"),
    ],
)
def test_an_invalid_subscription_is_rejected_with_the_field_at_fault_and_nothing_is_stored(
    client: Client, changes: dict[str, Any], parameter: str
) -> None:
    answer = create(client, **changes)
    assert answer.status == 400, answer.body
    assert answer.body["errors"][0]["parameter"] == parameter
    assert engine().scan(TableName="notifications")["Items"] == []
    assert (
        boto3.client("secretsmanager").list_secrets(Filters=[{"Key": "name", "Values": [PREFIX]}])["SecretList"] == []
    )


@pytest.mark.parametrize("kind", ["webhook", "relaunch"])
def test_an_address_of_this_deployment_is_refused(client: Client, kind: str) -> None:
    own = {"url": "https://abc.execute-api.us-east-1.amazonaws.com/webhook"}
    types = ["runner.requested"] if kind == "relaunch" else ["*"]
    body = WEBHOOK | {"kind": kind, "config": own, "types": types}
    context = {
        "http": {"method": "POST", "path": SUBSCRIPTIONS},
        "stage": "$default",
        "requestId": "r",
        "timeEpoch": client.now_ms,
        "domainName": "abc.execute-api.us-east-1.amazonaws.com",
    }
    answer = client.ask("POST", SUBSCRIPTIONS, body=json.dumps(body), requestContext=context)
    assert (answer.status, answer.body["errors"][0]["parameter"]) == (400, "url")


def test_a_change_of_the_kind_or_by_two_callers_at_once_is_refused(client: Client) -> None:
    made = created(client)
    for change in ({"kind": "slack"}, {"secret": "whsec_x"}, {"surprise": 1}):
        answer = patch(client, made, **change)
        assert (answer.status, answer.body["errors"][0]["parameter"]) == (400, next(iter(change)))
    assert client.get(path(made)).body["kind"] == "webhook"
    table = Scene(engine()).subscriptions
    stored = table.get(INSTALLATION, made["subscription_id"])
    assert stored
    assert table.replace(stored | {"version": 2}, read_version=1)
    assert not table.replace(stored | {"version": 2}, read_version=1)


def test_a_test_message_is_created_and_queued(client: Client, world: World) -> None:
    made = created(client)
    answer = client.post(f"{path(made)}/test")
    assert answer.status == 202
    message = answer.body
    assert (message["status"], message["message_type"], message["created_by"]) == (
        *("queued", "runledger.test"),
        "token:olga",
    )
    assert message["payload"]["data"]["text"].startswith("This is a test of the subscription Pager")
    assert [each.message_id for each in queued(world)] == [message["message_id"]]
    assert client.get(f"{MESSAGES}/{message['message_id']}").body == message


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
    answer = client.post(MESSAGES, body)
    assert (answer.status, answer.body["errors"][0]["parameter"]) == (400, parameter)


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
    assert (old["status"], old["error_message"]) == ("failed", "The receiver answered 500")
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
            answer = client.get(MESSAGES, limit=3, cursor=cursor, **query)
            assert answer.status == 200, answer.body
            found += [each["message_id"] for each in answer.body["items"]]
            assert all("payload" not in each for each in answer.body["items"])
            if not (cursor := answer.body["next_cursor"]):
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


def test_readers_read_and_only_operators_of_the_installation_change(client: Client) -> None:
    made = created(client)
    reader, elsewhere = client.with_token(TOKENS["reader"]), client.with_token(TOKENS["scoped"])
    for each in (SUBSCRIPTIONS, path(made), MESSAGES, f"{HERE}/notifications"):
        assert reader.get(each).status == 200
        assert elsewhere.get(each).status == 404
    for caller, status in ((reader, 403), (elsewhere, 404)):
        assert caller.post(SUBSCRIPTIONS, WEBHOOK).status == status
        assert caller.ask("PATCH", path(made), body='{"name": "x"}').status == status
        assert caller.ask("DELETE", path(made)).status == status
        for action in ("test", "rotate-secret"):
            assert caller.post(f"{path(made)}/{action}").status == status
        assert caller.post(MESSAGES, {"text": "x"}).status == status
    assert ELSEWHERE != INSTALLATION
    assert client.get(path(made)).body["version"] == 1


def test_an_installation_has_a_hundred_subscriptions_at_most(client: Client) -> None:
    for _ in range(100):
        created(client, kind="sns", config={"target": "builds"})
    assert create(client).status == 409
