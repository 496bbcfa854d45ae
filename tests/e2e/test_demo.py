"""The local contract and the demo: everything is there, and every kind of life ends as it should."""

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from runledger.tables import schema
from runledger.tables.attributes import from_attributes

from local import demo
from local.outputs import Outputs

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def test_outputs_are_complete(outputs: Outputs) -> None:
    assert outputs.tables.keys() == {table.name for table in schema.TABLES}
    assert outputs.functions.keys() == {"webhook_intake", "webhook_retry", "forgotten_approvals"}
    for value in (outputs.webhook_url, outputs.api_url, outputs.github_api_url, outputs.endpoint_url):
        assert value.startswith("http://127.0.0.1:")
    assert all((outputs.admin_token, outputs.webhook_secret, outputs.event_bus, outputs.region))


def test_the_demo_fills_the_ledger(outputs: Outputs, dynamodb: "DynamoDBClient") -> None:
    demo.send(outputs, now=datetime.now(UTC))
    pages = dynamodb.get_paginator("scan").paginate(TableName=outputs.tables["workflow_jobs"])
    jobs = [from_attributes(item) for page in pages for item in page["Items"] if item["SK"]["S"] == "v"]
    seen = Counter(job["status"] for job in jobs)
    assert sum(seen.values()) >= 40
    assert {"queued", "waiting", "in_progress", "completed"} <= seen.keys()
    assert {"success", "failure", "cancelled", "skipped"} <= {job.get("conclusion") for job in jobs}
