"""Many writers at once, on Amazon's own engine: no update and no event is lost."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import permutations
from typing import TYPE_CHECKING

import boto3
import pytest
from botocore.config import Config
from runledger.model.errors import ContendedError
from runledger.model.inputs import Receipt
from runledger.recording.decision import BOOKKEEPING, Outcome
from runledger.tables.jobs import JobsTable

from tests.support.beds import items
from tests.support.ledgers import EVENTS, JOBS, ledger_on
from tests.support.webhooks import JOB, LIFE, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.server

EVERY = 7  # a prime, so that all deliveries change places
ABOUT_ITSELF = BOOKKEEPING | {"PK", "job_id", "ttl"}


def test_fifty_concurrent_deliveries_for_one_job_lose_nothing(
    dynamodb_local: "DynamoDBClient", dynamodb_local_url: str
) -> None:
    deliveries = [receipt(LIFE[n % 5], at=n, guid=f"delivery {n}", check_run_url=f"hook {n}") for n in range(50)]
    client = boto3.client("dynamodb", endpoint_url=dynamodb_local_url, config=Config(max_pool_connections=50))
    ledger = ledger_on(client)

    def record(each: Receipt) -> Outcome:
        """Record as intake and its retry queue do: an input that isn't recorded comes again."""
        while True:
            with suppress(ContendedError):
                return ledger.record(each).outcome

    with ThreadPoolExecutor(max_workers=50) as pool:
        outcomes = list(pool.map(record, deliveries))
    client.close()
    assert outcomes == [Outcome.RECORDED] * 50
    job = items(dynamodb_local, JOBS)[0]
    assert (job["status"], job["version"]) == ("completed", 50)
    taken = JobsTable(dynamodb_local, JOBS, retention_days=90).get(job["installation_id"], job["job_id"])
    assert taken is not None
    assert sorted(taken.webhooks) == sorted(each.token for each in deliveries)
    history = items(dynamodb_local, EVENTS)
    assert sorted(line["delivery_id"] for line in history) == sorted(each.delivery_id for each in deliveries)


def test_fifty_concurrent_redeliveries_of_one_delivery_are_taken_in_once(
    dynamodb_local: "DynamoDBClient", dynamodb_local_url: str
) -> None:
    client = boto3.client("dynamodb", endpoint_url=dynamodb_local_url, config=Config(max_pool_connections=50))
    ledger = ledger_on(client)
    with ThreadPoolExecutor(max_workers=50) as pool:
        outcomes = list(pool.map(ledger.record, [receipt("queued", at=n) for n in range(50)]))
    client.close()
    assert sorted(each.outcome for each in outcomes) == [Outcome.DUPLICATE] * 49 + [Outcome.RECORDED]
    assert items(dynamodb_local, JOBS)[0]["version"] == 1
    assert sum(1 for line in items(dynamodb_local, EVENTS) if line.get("duplicate")) == 49


def test_any_order_of_a_jobs_events_with_every_delivery_twice_ends_in_one_item(
    dynamodb_local: "DynamoDBClient",
) -> None:
    """A sample of the orders: the simulation plays all of them."""
    ledger = ledger_on(dynamodb_local)

    def play(job_id: int, order: tuple[str, ...]) -> None:
        for second, step in enumerate([*order, *order]):
            ledger.record(receipt(step, at=second, job_id=job_id))

    orders = dict(enumerate(list(permutations(LIFE))[::EVERY], start=JOB))
    with ThreadPoolExecutor(max_workers=4) as pool:
        list(pool.map(play, orders.keys(), orders.values()))
    jobs = [item for item in items(dynamodb_local, JOBS) if item["SK"] == "v"]
    assert len(jobs) == len(orders) == 18
    essences = [{name: value for name, value in job.items() if name not in ABOUT_ITSELF} for job in jobs]
    assert all(essence == essences[0] for essence in essences)
    history = items(dynamodb_local, EVENTS)
    assert len(history) == len(orders) * len(LIFE) * 2
    assert sum(1 for line in history if line.get("duplicate")) == len(orders) * len(LIFE)
