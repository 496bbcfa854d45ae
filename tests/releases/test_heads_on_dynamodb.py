"""The real engine accepts every call of the heads, and they cost on it what docs/cost.md states."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from runledger.releases.recorder import HeadRecorder
from runledger.tables import schema

from local import ROOT
from tests.releases.scenes import (
    MAIN,
    PRODUCTION,
    deployment,
    empty_engine,
    ended,
    heads_table,
    recorder,
    releases,
    run,
)
from tests.support.beds import CREATED_WITH
from tests.support.synthesis import synthesise

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.server
WRITES, READS = ("put_item", "update_item"), ("get_item", "query")
LIFE = [run(1, "success"), run(2, "failure"), run(2, attempt=2), run(2, "success", attempt=2), run(1, "failure")]
DEPLOYED = [deployment(1, "a", succeeded_at=1), deployment(2, "b"), deployment(2, "b", succeeded_at=2)]


class Meter:
    """Counts the units of each call."""

    def __init__(self, client: "DynamoDBClient") -> None:
        self.client, self.written, self.read = client, 0.0, 0.0

    def __getattr__(self, name: str) -> Any:
        def call(**arguments: Any) -> Any:
            response = getattr(self.client, name)(**arguments, ReturnConsumedCapacity="TOTAL")
            units = response["ConsumedCapacity"]["CapacityUnits"]
            self.written += units if name in WRITES else 0
            self.read += units if name in READS else 0
            return response

        return call


@pytest.fixture
def table(dynamodb_local_url: str) -> Iterator["DynamoDBClient"]:
    client = boto3.client("dynamodb", endpoint_url=dynamodb_local_url)
    template = synthesise(releases=True)["data"]
    properties = template["Resources"][template["Outputs"]["ReleasesTable"]["Value"]["Ref"]]["Properties"]
    client.create_table(TableName=schema.RELEASES.name, **_given(properties))
    yield client
    client.delete_table(TableName=schema.RELEASES.name)
    client.close()


def _given(properties: dict[str, Any]) -> Any:
    """The table has no index."""
    return {name: properties[name] for name in CREATED_WITH if name in properties}


def cost(client: "DynamoDBClient", *batches: Callable[[HeadRecorder], None]) -> list[float]:
    meter = Meter(client)
    for record in batches:
        record(recorder(meter))
    return [meter.written, meter.read]


def runs(*changes: dict[str, Any]) -> Callable[[HeadRecorder], None]:
    return lambda heads: heads.record_runs(changes)


def deployments(*changes: dict[str, Any]) -> Callable[[HeadRecorder], None]:
    return lambda heads: heads.record_deployments(changes)


def stated(name: str) -> list[float]:
    rows = re.compile(rf"^\| {name} \| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)
    (row,) = rows.findall((ROOT / "docs" / "cost.md").read_text())
    return [float(each) for each in row]


def test_the_items_are_those_of_the_engine_in_memory(table: "DynamoDBClient") -> None:
    heads = recorder(table)
    for change in LIFE:
        heads.record_runs([change])
    for change in DEPLOYED:
        heads.record_deployments([change])
    found = table.scan(TableName=schema.RELEASES.name)["Items"]
    by_key = {schema.RELEASES.name: {(item["PK"]["S"], item["SK"]["S"]): item for item in found}}
    assert releases(by_key) == ended(empty_engine(), [*LIFE, *DEPLOYED])


def test_the_losing_side_of_a_head_is_refused(table: "DynamoDBClient") -> None:
    recorder(table).record_runs([run(1, "success")])
    head = {"last_run": {"run_id": 9}, "state": "red"}
    assert not heads_table(table).save_head(MAIN, head, version=0)
    assert heads_table(table).save_head(MAIN, head, version=1)
    assert not heads_table(table).save_head(MAIN, head, version=1)
    assert not heads_table(table).save_environment(PRODUCTION, {"is_active": True}, version=3)


def test_a_run_takes_the_units_of_the_document(table: "DynamoDBClient") -> None:
    recorder(table).record_runs([run(number, "success") for number in range(1, 30)])
    reports = [run(30), run(30, status="in_progress"), run(30, "success")]
    assert cost(table, *map(runs, reports)) == stated("a run, three reports in three batches")
    reports = [run(31), run(31, status="in_progress"), run(31, "success")]
    assert cost(table, runs(*reports)) == stated("a run, all reports in one batch")


def test_a_deployment_takes_the_units_of_the_document(table: "DynamoDBClient") -> None:
    deployed = [deployment(number, chr(96 + number), succeeded_at=number) for number in range(1, 11)]
    recorder(table).record_deployments(deployed)
    life = [
        deployment(11, "k"),
        deployment(11, "k", succeeded_at=11),
        deployment(10, "j", succeeded_at=10, inactive_at=11),
    ]
    expected = stated("a deployment that succeeds and replaces another, in three batches")
    assert cost(table, *map(deployments, life)) == expected
