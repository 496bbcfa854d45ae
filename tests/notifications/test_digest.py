"""The digest: composed of what the API's queries return, with one line for each fact."""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from jsonschema import Draft202012Validator, FormatChecker
from moto import mock_aws
from runledger.model import times
from runledger.model.completed_job import CompletedJob
from runledger.notifications.digest import LISTED, Failures, Period
from runledger.notifications.digest_reader import DigestReader
from runledger.notifications.schedules import Every
from runledger.notifications.texts import text_of
from runledger.tables import schema
from runledger.tables.attributes import to_attributes
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.job_pages import JobPages
from runledger.tables.jobs import JobsTable

from local import ROOT
from tests.support.beds import KEEP_SESSION
from tests.support.memory import tables_in_memory

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

UNTIL = "2026-11-17T08:00:00.000Z"
DAY = Period.ending(UNTIL, Every.DAY)
SCHEMA = json.loads((ROOT / "docs" / "notifications" / "digest.v1.schema.json").read_text())
REPO = "acme/storefront"


@pytest.fixture(scope="module")
def clients() -> Iterator["DynamoDBClient"]:
    with mock_aws(config=KEEP_SESSION):
        yield boto3.client("dynamodb")


@pytest.fixture
def reader(clients: "DynamoDBClient") -> Iterator[DigestReader]:
    with tables_in_memory():
        yield DigestReader(
            pages=JobPages(clients, schema.WORKFLOW_JOBS.name),
            jobs=JobsTable(clients, schema.WORKFLOW_JOBS.name, retention_days=90),
            deployments=DeploymentsTable(clients, schema.DEPLOYMENTS.name, retention_days=90),
            forgotten_approval_hours=24,
        )


def put(client: "DynamoDBClient", job_id: int, **more: Any) -> None:
    installation_id = more.pop("installation_id", 7)
    found = {
        "PK": f"{installation_id}#{job_id}",
        "SK": "v",
        "version": 1,
        "installation_id": installation_id,
        "job_id": job_id,
        "repo_full_name": REPO,
        "last_updated_at": UNTIL,
        "received_at": UNTIL,
    } | more
    found |= {"by_status": f"{installation_id}#{found['status']}"}
    client.put_item(TableName=schema.WORKFLOW_JOBS.name, Item=to_attributes(found))


def completed(client: "DynamoDBClient", job_id: int, *, hours_ago: float = 2, **more: Any) -> None:
    ended = times.earlier(UNTIL, seconds=hours_ago * 3600)
    started = times.earlier(ended, seconds=600)
    found = {
        "status": "completed",
        "conclusion": "success",
        "created_at": times.earlier(started, seconds=30),
        "started_at": started,
        "completed_at": ended,
        "by_completion": str(more.get("installation_id", 7)),
        "workflow_name": "CI",
        "job_name": "build",
        "usage_in_seconds": 600,
        "overall_queue_duration_in_ms": 30_000,
    }
    put(client, job_id, **(found | more))


def waiting(client: "DynamoDBClient", job_id: int, *, hours_ago: float, **more: Any) -> None:
    since = times.earlier(UNTIL, seconds=hours_ago * 3600)
    found = {"status": "waiting", "created_at": since, "approval_requested_at": since, "environment": "production"}
    put(client, job_id, **(found | {"run_id": job_id, "run_attempt": 1} | more))


def digest_text(data: dict[str, Any]) -> list[str]:
    text = text_of({"type": "runledger.digest", "data": data})
    return [text.title, *text.lines]


def is_valid(data: dict[str, Any]) -> bool:
    json.dumps(data)  # without Decimals
    return Draft202012Validator(SCHEMA, format_checker=FormatChecker()).is_valid(data)


def test_a_day_is_summed_up(reader: DigestReader, clients: "DynamoDBClient") -> None:
    spot: dict[str, Any] = {
        "instance_lifecycle": "spot",
        "usage_in_dollars": Decimal("0.25"),
        "saved_in_dollars": Decimal("0.5"),
    }
    for job_id in range(1, 5):
        completed(clients, job_id, conclusion="failure" if job_id <= 2 else "success", **spot)
    completed(clients, 5, conclusion="failure", job_name="deploy", usage_in_seconds=3600)
    completed(clients, 6, hours_ago=30, conclusion="failure", job_name="yesterday")
    completed(clients, 7, installation_id=8, conclusion="failure", job_name="another tenant")
    waiting(clients, 8, hours_ago=49)
    waiting(clients, 9, hours_ago=2)
    found = reader.read(7, DAY)
    assert is_valid(found)
    assert (found["jobs"], found["succeeded"], found["failed"]) == (6, 2, 3)
    assert [(each["job_name"], each["failed"], each["jobs"]) for each in found["failed_most"]] == [
        ("build", 2, 4),
        ("deploy", 1, 1),
    ]
    assert [each["job_ids"] for each in found["forgotten_approvals"]] == [[8]]
    assert found["truncated"] is False
    assert (found["usage_in_dollars"], found["savings_in_dollars"], found["spot_share"]) == (1, 2, 1)
    lines = digest_text(found)
    assert lines[:2] == [
        "Daily digest: 6 jobs from 2026-11-16 to 2026-11-17",
        "2 succeeded, 3 failed, success rate 40 %",
    ]
    assert "• CI / build in acme/storefront: 2 of 4" in lines
    assert "• production in acme/storefront: waiting for 2 d 1 h" in lines
    assert not any("another tenant" in line or "yesterday" in line for line in lines)


def test_a_repository_has_a_digest_of_its_own(reader: DigestReader, clients: "DynamoDBClient") -> None:
    completed(clients, 1, by_repo=f"7#{REPO}")
    completed(clients, 2, repo_full_name="acme/other", by_repo="7#acme/other", conclusion="failure")
    waiting(clients, 3, hours_ago=49, repo_full_name="acme/other")
    found = reader.read(7, DAY, repo_full_name=REPO)
    assert (found["jobs"], found["failed"], found["forgotten_approvals"]) == (1, 0, [])


def test_a_digest_without_jobs_states_that_there_were_none(reader: DigestReader) -> None:
    found = reader.read(7, DAY)
    assert is_valid(found)
    assert digest_text(found) == ["Daily digest: 0 jobs from 2026-11-16 to 2026-11-17", "No jobs in this period."]


def test_the_costs_of_one_job_are_those_of_a_job() -> None:
    costly = {"job_name": "lint", "usage_in_dollars": 1}
    lines = digest_text({"jobs": 3, "costliest": [costly | {"jobs": 1}, costly | {"jobs": 2}]})
    assert lines[-2:] == ["• lint in a repository: $1.00 for 1 job", "• lint in a repository: $1.00 for 2 jobs"]


def test_figures_that_are_too_low_are_marked(reader: DigestReader, clients: "DynamoDBClient") -> None:
    completed(clients, 1)
    found = reader.read(7, DAY, has_time=lambda: False)
    assert is_valid(found)
    assert "too low" in digest_text(found)[-1]


def test_more_forgotten_approvals_than_are_listed_are_counted(reader: DigestReader, clients: "DynamoDBClient") -> None:
    for number in range(1, 13):
        waiting(clients, number, hours_ago=100 + number)
    found = reader.read(7, DAY)
    assert is_valid(found)
    assert found["forgotten_approvals"][0]["job_ids"] == [12]
    assert digest_text(found)[-1] == "• and 2 more"


def test_a_week_has_seven_days() -> None:
    week = Period.ending(UNTIL, Every.WEEK)
    assert (week.since, week.until) == ("2026-11-10T08:00:00.000Z", UNTIL)


def test_failures_outside_of_the_period_do_not_count() -> None:
    failures = Failures(DAY)
    for at in (DAY.until, times.earlier(DAY.since, seconds=1)):
        failures.add(CompletedJob(job_id=1, created_at=at, completed_at=at, conclusion="failure"))
    assert failures.most() == []


def test_names_without_a_limit_fit_into_bounded_memory() -> None:
    failures = Failures(DAY, names_kept=10)
    for number in range(500):
        for _ in range(20 if number == 3 else 1):
            at = DAY.since
            name = f"matrix {number}"
            failures.add(CompletedJob(job_id=1, created_at=at, completed_at=at, conclusion="timed_out", job_name=name))
    most = failures.most()
    assert len(most) == LISTED
    assert most[0] == {"job_name": "matrix 3", "failed": 20, "jobs": 20}
