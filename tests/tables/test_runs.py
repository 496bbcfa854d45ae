"""A run has the values of its own reports, and counts its jobs exactly, in any order and any number of times."""

from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config
from runledger.recording.ledger import Ledger
from runledger.webhooks.readers import dispatcher

from tests.support import messages
from tests.support.beds import empty, items
from tests.support.ledgers import RUNS, ledger_on
from tests.support.memory import in_memory
from tests.support.messages import Message
from tests.support.webhooks import (
    COMPLETED,
    IN_PROGRESS,
    INSTALLATION,
    JOB,
    QUEUED,
    REPO,
    RUN,
    delivery,
    payload,
    receipt,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

BOOKKEEPING = {"ttl", "checked_at"}


def take(ledger: Ledger, message: Message, *, guid: str, at: int) -> None:
    event, body = message
    for record in dispatcher.read(delivery(body, guid=guid, at=at, event=event)):
        ledger.dispatch(record)


def essence(run: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in run.items() if name not in BOOKKEEPING}


LIFE: dict[str, Message] = {
    "requested": messages.run("requested"),
    "job queued": ("workflow_job", payload(QUEUED)),
    "run in progress": messages.run("in_progress"),
    "job completed": ("workflow_job", payload(COMPLETED, conclusion="failure")),
    "run completed": messages.run("completed"),
}


@pytest.mark.walk
@in_memory
def test_every_order_of_reports_and_jobs_each_twice_ends_in_one_run(dynamodb: "DynamoDBClient") -> None:
    """A sample of the orders: each thing first, and each thing last."""
    ended = []
    orders = list(permutations(LIFE))
    for order in orders[::11]:
        ledger = ledger_on(dynamodb)
        for second, step in enumerate([*order, *reversed(order)]):
            take(ledger, LIFE[step], guid=step, at=second)
        (run,) = items(dynamodb, RUNS)
        ended.append(essence(run))
        empty(dynamodb)
    assert ended == [ended[0]] * len(ended)
    assert ended[0] | {"done_job_ids": {JOB}} == ended[0]
    assert (ended[0]["total_jobs"], ended[0]["completed_jobs"], ended[0]["failed_jobs"]) == (1, 1, 1)
    assert (ended[0]["status"], ended[0]["conclusion"]) == ("completed", "success")
    assert ended[0]["created_at"] == "2025-01-15T09:59:58.000Z"
    assert ended[0]["updated_at"] == "2025-01-15T10:13:00.000Z"


def test_a_run_that_is_known_from_its_jobs_alone_has_an_item(dynamodb: "DynamoDBClient") -> None:
    ledger = ledger_on(dynamodb)
    ledger.record(receipt(QUEUED))
    ledger.record(receipt(IN_PROGRESS, at=1, job_id=7))
    (run,) = items(dynamodb, RUNS)
    assert (run["PK"], run["repo_full_name"], run["workflow_name"]) == (f"{INSTALLATION}#{RUN}#1", REPO, "Env Test")
    assert (run["status"], run["total_jobs"], run["completed_jobs"]) == ("queued", 2, 0)
    take(ledger, messages.run("in_progress"), guid="run", at=2)
    (run,) = items(dynamodb, RUNS)
    assert (run["status"], run["total_jobs"]) == ("in_progress", 2)
    assert run["run_html_url"].startswith("https://github.com/")


def test_a_completed_run_is_never_taken_back(dynamodb: "DynamoDBClient") -> None:
    ledger = ledger_on(dynamodb)
    for second, action in enumerate(("completed", "in_progress", "requested")):
        take(ledger, messages.run(action), guid=action, at=second)
    (run,) = items(dynamodb, RUNS)
    assert (run["status"], run["conclusion"], run["updated_at"]) == ("completed", "success", "2025-01-15T10:13:00.000Z")


def test_a_higher_attempt_is_another_item(dynamodb: "DynamoDBClient") -> None:
    ledger = ledger_on(dynamodb)
    take(ledger, messages.run("completed"), guid="first", at=0)
    take(ledger, messages.run("requested", attempt=2), guid="second", at=1)
    assert [(run["run_attempt"], run["status"]) for run in items(dynamodb, RUNS)] == [(1, "completed"), (2, "queued")]


@pytest.mark.server
def test_a_matrix_of_256_completing_at_once_each_delivered_twice_is_counted_exactly(
    dynamodb_local: "DynamoDBClient", dynamodb_local_url: str
) -> None:
    client = boto3.client("dynamodb", endpoint_url=dynamodb_local_url, config=Config(max_pool_connections=32))
    ledger = ledger_on(client)
    failures = {n for n in range(256) if n % 5 == 0}

    def deliver(n: int) -> None:
        leg = n % 256
        conclusion = "failure" if leg in failures else "success"
        step = receipt(COMPLETED, at=n // 256, job_id=JOB + leg, guid=f"completed {leg}", conclusion=conclusion)
        if leg % 2:
            ledger.record(receipt(QUEUED, at=0, job_id=JOB + leg, guid=f"queued {leg}"))
        ledger.record(step)

    with ThreadPoolExecutor(max_workers=32) as pool:
        list(pool.map(deliver, range(512)))
    client.close()
    (run,) = items(dynamodb_local, RUNS)
    assert (run["total_jobs"], run["completed_jobs"], run["failed_jobs"]) == (256, 256, len(failures))
    assert run["done_job_ids"] == {JOB + leg for leg in range(256)}
    assert "open_job_ids" not in run
