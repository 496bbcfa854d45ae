"""The local contract and the demo: everything is there, and every kind of life ends as it should."""

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from runledger.tables import schema
from runledger.tables.attributes import from_attributes

from local import demo, summary
from local.approval_lives import DAYS_FORGOTTEN
from local.control import Control
from local.lives import MATRIX
from local.outputs import Outputs
from local.payloads.subjects import Delivery

Tables = dict[str, dict[str, dict[str, Any]]]

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def test_outputs_are_complete(outputs: Outputs) -> None:
    assert outputs.tables.keys() == {table.name for table in schema.TABLES}
    assert outputs.functions.keys() == {"webhook_intake", "webhook_retry", "forgotten_approvals"}
    for value in (outputs.webhook_url, outputs.api_url, outputs.github_api_url, outputs.endpoint_url):
        assert value.startswith("http://127.0.0.1:")
    assert all((outputs.admin_token, outputs.webhook_secret, outputs.event_bus, outputs.region))


@pytest.fixture(scope="module")
def sent(outputs: Outputs) -> list[Delivery]:
    return demo.send(outputs, now=datetime.now(UTC))


@pytest.fixture(scope="module")
def tables(outputs: Outputs, dynamodb: "DynamoDBClient", sent: list[Delivery]) -> Tables:
    """Every item that stands alone under its key, by table and key."""
    assert sent
    found: Tables = {}
    for name, table in outputs.tables.items():
        pages = dynamodb.get_paginator("scan").paginate(TableName=table)
        items = [from_attributes(item) for page in pages for item in page["Items"] if item["SK"]["S"] == "v"]
        found[name] = {item["PK"]: item for item in items}
    return found


def test_the_demo_fills_the_ledger(sent: list[Delivery], tables: Tables) -> None:
    jobs = tables["workflow_jobs"].values()
    seen = Counter(job["status"] for job in jobs)
    assert sum(seen.values()) >= 40
    assert {"queued", "waiting", "in_progress", "completed"} <= seen.keys()
    assert {"success", "failure", "cancelled", "skipped"} <= {job.get("conclusion") for job in jobs}
    assert summary.run_keys(sent) <= tables["workflow_runs"].keys()


def test_a_runs_counters_are_exact(sent: list[Delivery], tables: Tables) -> None:
    ours = [tables["workflow_runs"][key] for key in summary.run_keys(sent)]
    (matrix,) = [run for run in ours if run["workflow_name"] == "Matrix"]
    assert (matrix["status"], matrix["conclusion"]) == ("completed", "failure")
    assert (matrix["total_jobs"], matrix["completed_jobs"], matrix["failed_jobs"]) == (len(MATRIX), len(MATRIX), 1)
    release = sorted((run for run in ours if run["workflow_name"] == "Release"), key=lambda run: run["run_attempt"])
    assert [(run["run_attempt"], run["total_jobs"], run["failed_jobs"]) for run in release] == [(1, 2, 1), (2, 2, 0)]


def test_approvals_are_as_told(sent: list[Delivery], tables: Tables) -> None:
    ours = [tables["deployments"][key] for key in summary.deployment_keys(sent)]
    assert all(each["requires_approval"] for each in ours)
    told = sorted((each["repo_full_name"], each["environment"], each["status"]) for each in ours)
    assert told == [
        ("acme/payments", "production", "pending"),
        ("acme/storefront", "production", "approved"),
        ("acme/storefront", "production", "rejected"),
        ("globex/platform", "staging", "pending"),
    ]
    decided = {each["status"]: each for each in ours}
    assert "approved_at" in decided["approved"]
    assert "rejected_at" in decided["rejected"]
    for each in ours:
        (job_id,) = each["job_ids"]
        assert tables["workflow_jobs"][f"{each['installation_id']}#{job_id}"]["deployment_id"] == each["deployment_id"]


def test_the_forgotten_approval_is_listed_by_the_function(outputs: Outputs, sent: list[Delivery]) -> None:
    (found,) = [each for each in summary.forgotten_approvals(outputs) if each["repo_full_name"] == "globex/platform"]
    assert f"{found['installation_id']}#{found['deployment_id']}" in summary.deployment_keys(sent)
    assert found["environment"] == "staging"
    assert (datetime.now(UTC) - datetime.fromisoformat(found["waiting_since"])).days == DAYS_FORGOTTEN


def test_the_simulated_github_logs_every_delivery(outputs: Outputs, sent: list[Delivery]) -> None:
    logged = Counter((row["guid"], row["event"]) for row in Control(outputs.github_api_url).deliveries())
    assert Counter((each.delivery_id, each.event) for each in sent) <= logged
