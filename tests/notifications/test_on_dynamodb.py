"""The real engine accepts every write, and a message costs on it what docs/cost.md states."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from runledger.model.messages import MessageStatus
from runledger.notifications.channels.interface import SendResult
from runledger.tables import schema
from runledger.tables.messages import MessageFilter
from runledger.tables.pages import Span

from local import ROOT
from tests.notifications.scenes import SCOPE, Scene, event
from tests.support.beds import CREATED_WITH
from tests.support.synthesis import synthesise

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.server
TABLES = {schema.FEED.name: "FeedTable", schema.NOTIFICATIONS.name: "NotificationsTable"}
WRITES = ("put_item", "update_item")


class Meter:
    """Counts the units of each call."""

    def __init__(self, client: "DynamoDBClient") -> None:
        self.client, self.written = client, 0.0

    def __getattr__(self, name: str) -> Any:
        def call(**arguments: Any) -> Any:
            if name not in WRITES:
                return getattr(self.client, name)(**arguments)
            response = getattr(self.client, name)(**arguments, ReturnConsumedCapacity="TOTAL")
            self.written += response["ConsumedCapacity"]["CapacityUnits"]
            return response

        return call


@pytest.fixture
def tables(dynamodb_local_url: str) -> Iterator["DynamoDBClient"]:
    client = boto3.client("dynamodb", endpoint_url=dynamodb_local_url)
    template = synthesise(feeds=True, notifications=True)["data"]
    for name, output in TABLES.items():
        properties = template["Resources"][template["Outputs"][output]["Value"]["Ref"]]["Properties"]
        client.create_table(TableName=name, **{each: properties[each] for each in CREATED_WITH})
    yield client
    for name in TABLES:
        client.delete_table(TableName=name)
    client.close()


def stated(pattern: str) -> int:
    found = re.search(pattern, (ROOT / "docs" / "cost.md").read_text())
    assert found
    return int(found[1])


def test_a_message_and_a_retry_take_the_write_units_of_the_document(tables: "DynamoDBClient") -> None:
    meter = Meter(tables)
    scene = Scene(meter)
    scene.subscribe()
    scene.publish()
    meter.written = 0
    scene.router.route(event())
    scene.drain()
    assert round(meter.written) == stated(r"takes about (\d+) write units: five")
    scene.publish(2)
    scene.router.route(event(2))
    scene.channel.behaviour[f"{1:032x}"] = lambda _: SendResult.try_later("down")
    scene.drain()
    scene.clock.advance(20)
    meter.written = 0
    scene.drain()
    assert round(meter.written) == stated(r"A retry takes about (\d+) write units")


def test_the_real_engine_agrees_on_limits_retries_pauses_sweeps_and_lists(tables: "DynamoDBClient") -> None:
    """The other tests run in memory. Here each conditional write is made on the engine."""
    scene = Scene(tables)
    limited = scene.subscribe(1, at_most_per_hour=3)
    for number in (1, 2, 2, 3, 4, 4, 5):
        scene.publish(number)
        scene.router.route(event(number))
    assert len(scene.all()) == 3
    scene.channel.behaviour[limited.subscription_id] = lambda _: SendResult.try_later("down", retry_after_seconds=1000)
    scene.drain()
    assert len(scene.channel.received) == 1
    assert [each["parked"] for each in scene.all()] == [True] * 3
    scene.clock.advance(1500)
    assert [scene.sweep.run() for _ in range(2)] == [3, 0]
    scene.drain()
    assert len(scene.channel.received) == 2
    scene.channel.behaviour.clear()
    scene.live(hours=1)
    assert {each["status"] for each in scene.all()} == {"completed"}
    assert scene.stored_event(event(1)["event_id"])["status"] == "delivered"
    assert scene.subscriptions.replace(limited.to_item() | {"enabled": False, "version": 2}, read_version=1)
    assert not scene.subscriptions.replace(limited.to_item(), read_version=1)
    assert scene.messages.count(SCOPE, MessageStatus.COMPLETED, Span(since=event(1)["occurred_at"][:10])) == 3
    page = scene.messages.page(SCOPE, MessageFilter(status="completed"), Span(), limit=2)
    rest = scene.messages.page(SCOPE, MessageFilter(status="completed"), Span(), limit=2, start=page.next_key)
    assert (len(page.items), len(rest.items), rest.next_key) == (2, 1, None)
