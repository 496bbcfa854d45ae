"""EC2 and ECS report every machine of the account. Machines that aren't runners leave no lasting record."""

from typing import TYPE_CHECKING, Any

import pytest
from runledger.model import times
from runledger.model.runner import RunnerStatus
from runledger.model.suspicion import Cleared
from runledger.runners import aws_events
from runledger.runners.tracker import RunnerTracker
from runledger.tables.runners import UNCLAIMED_RETENTION_DAYS, RunnersTable

from tests.support import runner_events
from tests.support.beds import items
from tests.support.ledgers import JOBS, RUNNERS, ledger_on
from tests.support.runner_events import INSTANCE, SCOPE, instance_state
from tests.support.webhooks import IN_PROGRESS, JOB, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def runners(dynamodb: "DynamoDBClient") -> RunnerTracker:
    table = RunnersTable(dynamodb, RUNNERS, retention_days=14)
    return RunnerTracker(table=table, record=ledger_on(dynamodb).record, scope=SCOPE)


def only(client: "DynamoDBClient") -> dict[str, Any]:
    (found,) = items(client, RUNNERS)
    return found


def test_a_machine_of_the_account_is_not_active_and_is_forgotten_in_days(
    dynamodb: "DynamoDBClient", runners: RunnerTracker
) -> None:
    aws_events.record(instance_state("running", minute=2), runners)
    item = only(dynamodb)
    assert "status" not in item
    assert item["ttl"] == times.expiry("2025-01-15T10:02:00.000Z", UNCLAIMED_RETENTION_DAYS)
    assert list(runners.table.in_status(RunnerStatus.ACTIVE)) == []
    assert runners.table.among([INSTANCE]) == {}
    aws_events.record(instance_state("terminated", minute=9), runners)
    assert "status" not in only(dynamodb)


def test_a_plan_that_follows_gets_the_events_that_came_before_it(
    dynamodb: "DynamoDBClient", runners: RunnerTracker
) -> None:
    ledger_on(dynamodb).dispatch(receipt(IN_PROGRESS))
    aws_events.record(instance_state("running", minute=2), runners)
    aws_events.record(runner_events.interruption(minute=5), runners)
    runner_events.publish(runner_events.launcher("runner_scheduled", minute=1), runners)
    item = only(dynamodb)
    assert (item["status"], item["job_id"], item["interrupted_at"]) == ("active", JOB, "2025-01-15T10:05:00.000Z")
    assert item["ttl"] == times.expiry("2025-01-15T10:05:00.000Z", 90)
    (job,) = [each for each in items(dynamodb, JOBS) if each.get("job_id") == JOB]
    assert (job["interrupted_at"], job["was_interrupted"]) == ("2025-01-15T10:05:00.000Z", True)


def test_a_runner_without_a_job_is_suspected_though_only_events_were_known(
    dynamodb: "DynamoDBClient", runners: RunnerTracker
) -> None:
    aws_events.record(instance_state("running", minute=2), runners)
    at = "2025-01-15T11:00:00.000Z"
    assert runners.table.suspect(INSTANCE, at=at, reason="no_job", kind="ec2") is not None
    item = only(dynamodb)
    assert (item["status"], item["suspected_at"], item["ttl"]) == ("active", at, times.expiry(at, 90))
    runners.table.clear_suspicion(INSTANCE, suspected_at=at, at=at, found=Cleared.IN_USE)
    aws_events.record(instance_state("terminated", minute=59), runners)
    assert only(dynamodb)["status"] == "cleaned"


def test_a_machine_that_has_ended_is_not_suspected(dynamodb: "DynamoDBClient", runners: RunnerTracker) -> None:
    aws_events.record(instance_state("terminated", minute=2), runners)
    assert runners.table.suspect(INSTANCE, at="2025-01-15T11:00:00.000Z", reason="no_job") is None
    assert "status" not in only(dynamodb)


@pytest.mark.parametrize("elsewhere", [{"account": "999999999999"}, {"region": "eu-west-1"}])
def test_events_of_another_account_or_region_neither_confirm_nor_end_a_machine(
    dynamodb: "DynamoDBClient", runners: RunnerTracker, elsewhere: dict[str, str]
) -> None:
    runner_events.publish(runner_events.launcher("runner_scheduled", minute=1), runners)
    aws_events.record(instance_state("terminated", minute=9) | elsewhere, runners)
    item = only(dynamodb)
    assert (item["status"], "terminated_at" in item, "confirmed_at" in item) == ("active", False, False)


def test_a_machine_is_kept_with_the_place_where_aws_confirmed_it(
    dynamodb: "DynamoDBClient", runners: RunnerTracker
) -> None:
    scheduled = runner_events.launcher("runner_scheduled", minute=1, availability_zone="eu-west-1b")
    runner_events.publish(scheduled, runners)
    assert (only(dynamodb)["region"], "confirmed_at" in only(dynamodb)) == ("eu-west-1", False)
    aws_events.record(instance_state("running", minute=2), runners)
    item = only(dynamodb)
    assert (item["account_id"], item["region"]) == (runner_events.ACCOUNT, "us-east-1")


@pytest.mark.parametrize(
    ("region", "confirmed_at", "ends"),
    [
        ("us-east-1", "2025-01-15T10:02:00.000Z", True),
        ("eu-west-1", "2025-01-15T10:02:00.000Z", False),
        ("us-east-1", None, False),
    ],
)
def test_a_launchers_report_of_an_end_counts_only_for_a_machine_that_was_confirmed_in_scope(
    dynamodb: "DynamoDBClient", runners: RunnerTracker, region: str, confirmed_at: str | None, ends: bool
) -> None:
    """The second region is no longer a region of runners. The last machine is only reported to be in scope."""
    at = "2025-01-15T10:02:00.000Z"
    runner_events.publish(runner_events.launcher("runner_scheduled", minute=1), runners)
    confirmed = {"confirmed_at": confirmed_at, "account_id": runner_events.ACCOUNT, "region": region}
    runners.table.change(INSTANCE, at=at, change=lambda each: each.with_values(**confirmed))
    runner_events.publish(runner_events.launcher("runner_terminated", minute=9), runners, machine=None)
    assert ("terminated_at" in only(dynamodb)) is ends
