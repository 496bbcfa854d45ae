"""A runner is suspected and claimed for its cleanup on condition that nothing has changed meanwhile."""

from typing import TYPE_CHECKING

from runledger.runners.tracker import RunnerTracker
from runledger.tables.cleanups import CleanupLocks
from runledger.tables.runners import RunnersTable

from tests.support import runner_events
from tests.support.beds import items
from tests.support.ledgers import RUNNERS, ledger_on
from tests.support.runner_events import INSTANCE, SCOPE
from tests.support.webhooks import INSTALLATION

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def active(dynamodb: "DynamoDBClient") -> RunnersTable:
    """The table, with a runner that a launcher has scheduled."""
    table = RunnersTable(dynamodb, RUNNERS, retention_days=14)
    tracker = RunnerTracker(table=table, record=ledger_on(dynamodb).record, scope=SCOPE)
    runner_events.publish(runner_events.launcher("runner_scheduled"), tracker)
    return table


def test_a_cleanup_claim_whose_response_was_lost_is_recognised(dynamodb: "DynamoDBClient") -> None:
    table, locks = active(dynamodb), CleanupLocks(dynamodb, RUNNERS)
    suspected_at, at = "2025-01-15T11:00:00.000Z", "2025-01-15T11:30:00.000Z"
    assert table.suspect(INSTANCE, at=suspected_at, reason="no_job")
    assert locks.acquire(INSTANCE, suspected_at=suspected_at, owner="a pass", at=at)
    assert locks.acquire(INSTANCE, suspected_at=suspected_at, owner="a pass", at=at)
    assert not locks.acquire(INSTANCE, suspected_at=suspected_at, owner="another pass", at=at)


def test_a_cleanup_is_resumed_only_if_its_lease_has_expired(dynamodb: "DynamoDBClient") -> None:
    table, locks = active(dynamodb), CleanupLocks(dynamodb, RUNNERS)
    at, later = "2025-01-15T11:00:00.000Z", "2025-01-15T12:00:00.000Z"
    assert not locks.acquire(INSTANCE, suspected_at=None, owner="a pass", at=at)
    assert table.suspect(INSTANCE, at=at, reason="no_job")
    assert not locks.acquire(INSTANCE, suspected_at=None, owner="a pass", at=at)
    assert locks.acquire(INSTANCE, suspected_at=at, owner="a pass", at=at)
    assert not locks.acquire(INSTANCE, suspected_at=None, owner="another pass", at=at)
    assert locks.acquire(INSTANCE, suspected_at=None, owner="another pass", at=later)


def test_a_machine_that_is_contested_after_a_pass_has_read_it_is_not_suspected(dynamodb: "DynamoDBClient") -> None:
    table, at = active(dynamodb), "2025-01-15T11:00:00.000Z"
    table.change(INSTANCE, at=at, change=lambda runner: runner.contested(at, by=INSTALLATION + 1))
    assert table.suspect(INSTANCE, at=at, reason="no_job") is None
    (runner,) = items(dynamodb, RUNNERS)
    assert "suspected_at" not in runner
    assert "suspected_reason" not in runner
