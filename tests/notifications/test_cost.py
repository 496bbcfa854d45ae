"""What a message costs on the real engine, as docs/cost.md states it."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from runledger.notifications.channels.delivery import Receipt
from runledger.tables import schema

from local import ROOT
from tests.notifications.scenes import Scene, event
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
            answer = getattr(self.client, name)(**arguments, ReturnConsumedCapacity="TOTAL")
            self.written += answer["ConsumedCapacity"]["CapacityUnits"]
            return answer

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
    scene.channel.behaviour[f"{1:032x}"] = lambda _: Receipt.try_later("down")
    scene.drain()
    scene.clock.advance(20)
    meter.written = 0
    scene.drain()
    assert round(meter.written) == stated(r"A retry takes about (\d+) write units")
