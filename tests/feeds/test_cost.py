"""What an event costs on the real engine, as docs/cost.md states it."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from runledger.feeds.events import FeedEvent
from runledger.tables import schema

from local import ROOT
from tests.feeds.streams import ALL_TABLES, Pipeline, record_changes
from tests.feeds.test_translation import forwarded
from tests.simulation.engine import Engine
from tests.support.beds import CREATED_WITH
from tests.support.ledgers import ledger_on
from tests.support.synthesis import synthesise
from tests.support.webhooks import COMPLETED, IN_PROGRESS, QUEUED, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.server


class Meter:
    """Counts the units of each call."""

    def __init__(self, client: "DynamoDBClient") -> None:
        self.client, self.written, self.calls = client, 0.0, list[str]()

    def __getattr__(self, name: str) -> Any:
        def call(**arguments: Any) -> Any:
            self.calls.append(name)
            response = getattr(self.client, name)(**arguments, ReturnConsumedCapacity="TOTAL")
            if name == "put_item":
                self.written += response["ConsumedCapacity"]["CapacityUnits"]
            return response

        return call


@pytest.fixture
def feed(dynamodb_local_url: str) -> Iterator["DynamoDBClient"]:
    client = boto3.client("dynamodb", endpoint_url=dynamodb_local_url)
    template = synthesise(feeds=True)["data"]
    properties = template["Resources"][template["Outputs"]["FeedTable"]["Value"]["Ref"]]["Properties"]
    client.create_table(TableName=schema.FEED.name, **{name: properties[name] for name in CREATED_WITH})
    yield client
    client.delete_table(TableName=schema.FEED.name)
    client.close()


def life_of_a_job() -> list[FeedEvent]:
    engine = Engine(ALL_TABLES)
    records, ledger = record_changes(engine), ledger_on(engine)  # type: ignore[arg-type]
    for step in (QUEUED, IN_PROGRESS, COMPLETED):
        ledger.record(receipt(step))
    return forwarded(records)[0]


def test_an_event_takes_at_most_four_write_units_two_puts_and_no_transaction(feed: "DynamoDBClient") -> None:
    events, meter = life_of_a_job(), Meter(feed)
    assert len(events) == 3
    Pipeline(meter).writer.write(events)
    assert meter.calls == ["query", *["put_item"] * 6]
    assert 3 <= meter.written / len(events) <= 4
    assert re.search("up to four write units", (ROOT / "docs" / "cost.md").read_text())


def test_a_repeated_event_takes_one_write_unit_and_two_reads(feed: "DynamoDBClient") -> None:
    """DynamoDB charges a condition that fails, and DynamoDB Local doesn't report its units."""
    events = life_of_a_job()
    Pipeline(feed).writer.write(events)
    meter = Meter(feed)
    Pipeline(meter).writer.write(events[:1])
    assert meter.calls == ["query", "put_item", "get_item", "get_item"]
