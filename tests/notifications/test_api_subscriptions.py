"""Subscriptions over the API: what is accepted, where secrets are, and the roles that each call requires."""

import json
from typing import Any

import boto3
import pytest
from runledger.recording.ledger import Ledger

from tests.api.client import TOKENS, Client
from tests.notifications.api_scene import (
    HERE,
    MESSAGES,
    PREFIX,
    SUBSCRIPTIONS,
    UNKNOWN,
    WEBHOOK,
    api,
    client,
    create,
    created,
    ledger,
    patch,
    path,
    secret,
    world,
)
from tests.notifications.scenes import Scene
from tests.support.memory import engine
from tests.support.webhooks import INSTALLATION, QUEUED, receipt

__all__ = ["api", "client", "ledger", "world"]


def test_without_the_setting_there_are_no_notifications_and_me_shows_it(api: Client, ledger: Ledger) -> None:
    ledger.record(receipt(QUEUED))
    assert api.get("/v1/me").body["notifications"] is False
    for response in (
        *(api.get(each) for each in (SUBSCRIPTIONS, MESSAGES, f"{HERE}/notifications", f"{MESSAGES}/{UNKNOWN}")),
        api.post(SUBSCRIPTIONS, WEBHOOK),
        api.post(MESSAGES, {"text": "hello"}),
    ):
        assert (response.status, "setting notifications" in response.body["detail"]) == (404, True)


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
    assert client.request("DELETE", path(made)).status == 200
    assert client.get(path(made)).status == 404
    assert client.get(SUBSCRIPTIONS).body["items"] == []
    assert client.request("DELETE", path(made)).status == 404


def test_a_generated_secret_is_returned_once_and_stored_nowhere_but_in_secrets_manager(client: Client) -> None:
    made = created(client)
    assert made["secret"].startswith("whsec_")
    assert secret(made) == made["secret"]
    assert "secret" not in client.get(path(made)).body
    assert made["secret"] not in json.dumps(engine().scan(TableName="notifications")["Items"])


def test_a_given_secret_is_never_returned(client: Client) -> None:
    url = "https://hooks.slack.com/services/T000/B000/not-a-real-token"
    response = create(client, kind="slack", config={}, secret=url)
    assert response.status == 201
    for body in (response.body, client.get(SUBSCRIPTIONS).body, client.get(path(response.body)).body):
        assert "hooks.slack.com" not in json.dumps(body)
    assert secret(response.body) == url


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
    client.request("DELETE", path(made))
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
        ({"types": ["job.failed", "job.fail"]}, "types"),
        ({"types": ["jobs.*"]}, "types"),
        ({"types": ["runledger.test"]}, "types"),
        ({"types": ["failed"]}, "types"),
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
    response = create(client, **changes)
    assert response.status == 400, response.body
    assert response.body["errors"][0]["parameter"] == parameter
    assert engine().scan(TableName="notifications")["Items"] == []
    assert (
        boto3.client("secretsmanager").list_secrets(Filters=[{"Key": "name", "Values": [PREFIX]}])["SecretList"] == []
    )


@pytest.mark.parametrize("branch", ["release-?", "release/[0-9]"])
def test_wildcards_other_than_a_star_are_rejected(client: Client, branch: str) -> None:
    response = create(client, branches=[branch])
    assert response.status == 400
    assert "* is the only wildcard" in response.body["detail"]


def test_an_unknown_type_is_rejected_with_those_that_exist(client: Client) -> None:
    response = create(client, types=["run.fail"])
    assert response.body["detail"] == "types contains an unknown type: the types of run are run.completed, run.failed"
    types = ["*", "job.*", "release.failed", "audit.*", "audit.finished", "deploy.*"]
    assert create(client, types=types).status == 201


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"config": {}}, "url is missing"),
        ({"kind": "ntfy", "config": {}}, "secret must be the URL of the topic, unless url is given"),
    ],
)
def test_a_missing_address_is_named(client: Client, changes: dict[str, Any], detail: str) -> None:
    assert create(client, **changes).body["detail"] == detail


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
    response = client.request("POST", SUBSCRIPTIONS, body=json.dumps(body), requestContext=context)
    assert (response.status, response.body["errors"][0]["parameter"]) == (400, "url")


def test_a_change_of_the_kind_or_by_two_callers_at_once_is_refused(client: Client) -> None:
    made = created(client)
    for change in ({"kind": "slack"}, {"secret": "whsec_x"}, {"surprise": 1}):
        response = patch(client, made, **change)
        assert (response.status, response.body["errors"][0]["parameter"]) == (400, next(iter(change)))
    assert client.get(path(made)).body["kind"] == "webhook"
    table = Scene(engine()).subscriptions
    stored = table.get(INSTALLATION, made["subscription_id"])
    assert stored
    assert table.replace(stored | {"version": 2}, read_version=1)
    assert not table.replace(stored | {"version": 2}, read_version=1)


def test_readers_read_and_only_operators_of_the_installation_change(client: Client) -> None:
    made = created(client)
    reader, elsewhere = client.with_token(TOKENS["reader"]), client.with_token(TOKENS["scoped"])
    for each in (SUBSCRIPTIONS, path(made), MESSAGES, f"{HERE}/notifications"):
        assert reader.get(each).status == 200
        assert elsewhere.get(each).status == 404
    for caller, status in ((reader, 403), (elsewhere, 404)):
        assert caller.post(SUBSCRIPTIONS, WEBHOOK).status == status
        assert caller.request("PATCH", path(made), body='{"name": "x"}').status == status
        assert caller.request("DELETE", path(made)).status == status
        for action in ("test", "rotate-secret"):
            assert caller.post(f"{path(made)}/{action}").status == status
        assert caller.post(MESSAGES, {"text": "x"}).status == status
    assert client.get(path(made)).body["version"] == 1


def test_an_installation_has_a_hundred_subscriptions_at_most(client: Client) -> None:
    for _ in range(100):
        created(client, kind="sns", config={"target": "builds"})
    assert create(client).status == 409
