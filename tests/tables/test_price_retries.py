"""A job has its machine at once, and its price as soon as AWS can be called."""

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from runledger.model.errors import UnavailableError
from runledger.model.follow_ups import RunnerLookup
from runledger.model.inputs import Lifecycle
from runledger.model.instance import Instance, RunnerKind
from runledger.model.ownership import Ruling
from runledger.model.prices import Price
from runledger.runners.lookups import MachineLookups
from runledger.runners.tracker import RunnerTracker
from runledger.tables.runners import RunnersTable

from tests.support.beds import items
from tests.support.ledgers import JOBS, RUNNERS, ledger_on
from tests.support.runner_events import ACCOUNT, INSTANCE, SCOPE
from tests.support.webhooks import IN_PROGRESS, INSTALLATION, JOB, REPO, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

AT = "2025-01-15T10:03:00.000Z"
LOOKUP = RunnerLookup(
    installation_id=INSTALLATION, job_id=JOB, runner_id=INSTANCE, kind=RunnerKind.EC2, repo_full_name=REPO, at=AT
)


def machine(**tags: str) -> Instance:
    return Instance(
        runner_id=INSTANCE,
        kind=RunnerKind.EC2,
        state="running",
        instance_type="c7g.large",
        lifecycle=Lifecycle.ON_DEMAND,
        account_id=ACCOUNT,
        region="us-east-1",
        tags=tags,
    )


def runners_on(dynamodb: "DynamoDBClient") -> RunnerTracker:
    ledger = ledger_on(dynamodb)
    ledger.dispatch(receipt(IN_PROGRESS, runner_name=INSTANCE))
    table = RunnersTable(dynamodb, RUNNERS, retention_days=14)
    return RunnerTracker(table=table, record=ledger.record, scope=SCOPE, runner_tags={"runner": "yes"})


def test_a_price_that_could_not_be_looked_up_is_added_by_the_next_try(dynamodb: "DynamoDBClient") -> None:
    runners, found = runners_on(dynamodb), machine(runner="yes")
    with pytest.raises(UnavailableError, match="throttled"):
        MachineLookups(
            tracker=runners, find_machine=lambda *_: found, find_price=lambda _: Price(error="throttled")
        ).look_up(LOOKUP)
    job = job_in(dynamodb)
    assert (job["instance_id"], "price_per_hour" in job) == (INSTANCE, False)
    price = Price(per_hour=Decimal("0.07"), on_demand_per_hour=Decimal("0.07"))
    assert (
        MachineLookups(tracker=runners, find_machine=lambda *_: found, find_price=lambda _: price).look_up(LOOKUP)
        is Ruling.ASSIGN
    )
    assert job_in(dynamodb)["price_per_hour"] == Decimal("0.07")


def test_a_machine_that_is_no_runner_is_not_looked_up_again_for_its_price(dynamodb: "DynamoDBClient") -> None:
    runners = runners_on(dynamodb)
    failed = Price(error="throttled")
    assert (
        MachineLookups(tracker=runners, find_machine=lambda *_: machine(), find_price=lambda _: failed).look_up(LOOKUP)
        is Ruling.REJECT
    )


def job_in(dynamodb: "DynamoDBClient") -> dict[str, object]:
    (job,) = [each for each in items(dynamodb, JOBS) if each.get("job_id") == JOB]
    return job
