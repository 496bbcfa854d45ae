"""Payloads are checked before a message is created, and secrets of a rotation are read together."""

import json
from typing import Any

import boto3
import pytest
from moto import mock_aws
from runledger.feeds.envelope import SCHEMAS, schema_of
from runledger.feeds.events import FeedType
from runledger.model.errors import Malformed
from runledger.notifications import payloads
from runledger.notifications.secrets import FRESH_SECONDS, SecretReader, SecretStore
from runledger.notifications.subscriptions import Subscription

from tests.feeds import schemas
from tests.feeds.streams import ALL_TABLES
from tests.notifications.scenes import NOON, SCOPE, Scene, event
from tests.simulation.engine import Engine
from tests.support.beds import KEEP_SESSION

TYPES = {int: "integer", bool: "boolean", dict: "object", list: "array", str: "string"}


def payload(kind: str = "job.failed", **changes: Any) -> dict[str, Any]:
    data = json.loads(event(1)["payload"]) | changes
    return {"source": f"/v1/installations/{SCOPE}", "type": kind, "data": data}


@pytest.mark.parametrize("name", sorted(set(SCHEMAS.values())))
def test_the_required_fields_are_those_of_the_schema(name: str) -> None:
    described = schemas.SCHEMAS[f"urn:runledger:feed:{name}:v1"]
    assert payloads.REQUIRED[name].keys() == set(described["required"])
    for field, kind in payloads.REQUIRED[name].items():
        assert described["properties"][field].get("type", TYPES[kind]) == TYPES[kind]


def test_every_type_of_the_feed_has_required_fields() -> None:
    assert {schema_of(kind) for kind in FeedType} == {f"urn:runledger:feed:{name}:v1" for name in payloads.REQUIRED}


@pytest.mark.parametrize(
    "broken",
    [
        payload() | {"source": f"/v1/installations/{SCOPE + 1}"},
        payload(installation_id=SCOPE + 1),
        payload(job_id="1"),
        payload(status=None),
        payload() | {"data": []},
        payload("runledger.message") | {"data": {"text": ""}},
        payload("runledger.message") | {"data": {"text": "x", "html": "<b>"}},
    ],
)
def test_a_payload_that_does_not_match_its_type_or_installation_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        payloads.check(broken, installation_id=SCOPE)


def test_events_of_teams_may_have_any_data() -> None:
    values: tuple[Any, ...] = ({}, [1], "text", None)
    for data in values:
        payloads.check(payload("audit.finished") | {"data": data}, installation_id=SCOPE)
    without = {name: value for name, value in payload().items() if name != "data"}
    payloads.check(without | {"dataref": "/v1/installations/7/feed/x"}, installation_id=SCOPE)


def test_a_rotated_secret_is_read_with_its_previous_version_until_the_rotation_ends() -> None:
    seconds, now = 0.0, NOON
    with mock_aws(config=KEEP_SESSION):
        client = boto3.client("secretsmanager")
        store = SecretStore(client=client, prefix="runledger-test/notifications/")
        name = store.name(SCOPE, "s1")
        store.create(name, "first")
        reader = SecretReader(client=client, clock=lambda: seconds, now=lambda: now)
        subscription = subscribed(name)
        assert reader.secrets(subscription) == ["first"]
        store.replace(name, "second")
        assert reader.secrets(subscription) == ["first"]
        rotated = subscribed(name, version=2, previous_secret_until="2025-01-16T12:00:00.000Z")
        assert reader.secrets(rotated) == ["second", "first"]
        now = "2025-01-16T12:00:00.000Z"
        assert reader.secrets(rotated) == ["second"]
        store.replace(name, "third")
        seconds = FRESH_SECONDS + 1
        assert reader.secrets(rotated) == ["third"]
        store.delete(name)
        store.delete(name)
        seconds += FRESH_SECONDS + 1
        # A message that waits when its subscription is deleted fails, as all others of the subscription.
        assert reader.secrets(rotated) == []
        store.delete("runledger-test/notifications/7/unknown")
        assert reader.secrets(subscribed(None)) == []


def subscribed(name: str | None, **changes: Any) -> Subscription:
    return Scene(Engine(ALL_TABLES)).subscribe(1, secret_name=name, **changes)


def test_a_subscription_is_stored_and_read_without_a_difference() -> None:
    scene = Scene(Engine(ALL_TABLES))
    made = scene.subscribe(1, repositories=("acme/*",), at_most_per_hour=7, secret_name="a")
    (stored,) = scene.subscriptions.all(SCOPE)
    assert Subscription.from_item(stored | {"from_a_newer_release": 1}) == made
