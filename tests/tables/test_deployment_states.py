"""The states of a deployment: the latest time of each is stored, in any order and without a further call."""

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import messages
from tests.support.beds import empty
from tests.support.ledgers import ledger_on
from tests.support.memory import in_memory
from tests.tables.test_approvals import deployment
from tests.tables.test_runs import take

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

STATES = {
    "in_progress": "2025-01-15T10:01:00Z",
    "success": "2025-01-15T10:02:00Z",
    "inactive": "2025-01-15T10:03:00Z",
    "success again": "2025-01-15T10:04:00Z",
}
FACTS = {
    "sha": "a" * 40,
    "ref": "v1.2.3",
    "production_environment": True,
    "payload": {"version": "1.2.3"},
    "creator": {"login": "octocat"},
}


def status(step: str, **changes: Any) -> tuple[str, Any]:
    event, message = messages.deployment_status(step.partition(" ")[0], created=STATES[step])
    message["deployment"] |= FACTS | changes
    return event, message


@pytest.mark.walk
@in_memory
def test_every_order_of_a_deployments_states_ends_alike(dynamodb: "DynamoDBClient") -> None:
    ended = []
    for order in permutations(STATES):
        ledger = ledger_on(dynamodb)
        for second, step in enumerate([*order, *order]):
            take(ledger, status(step), guid=step, at=second)
        ended.append(deployment(dynamodb))
        empty(dynamodb)
    assert ended == [ended[0]] * len(ended)
    assert ended[0]["succeeded_at"] == "2025-01-15T10:04:00.000Z"
    assert ended[0]["inactive_at"] == "2025-01-15T10:03:00.000Z"
    assert "failed_at" not in ended[0]
    known = {name: ended[0][name] for name in ("head_sha", "ref", "version", "creator", "is_production")}
    assert known == {
        "head_sha": "a" * 40,
        "ref": "v1.2.3",
        "version": "1.2.3",
        "creator": "octocat",
        "is_production": True,
    }


@in_memory
def test_an_earlier_time_of_a_state_never_replaces_a_later_one(dynamodb: "DynamoDBClient") -> None:
    ledger = ledger_on(dynamodb)
    take(ledger, status("success again"), guid="late", at=0)
    take(ledger, status("success"), guid="early", at=1)
    assert deployment(dynamodb)["succeeded_at"] == "2025-01-15T10:04:00.000Z"


@pytest.mark.parametrize("payload", ["", "{}", {}, {"version": ""}, {"version": 3}, {"version": "x" * 101}, None, []])
@in_memory
def test_a_deployment_whose_payload_has_no_short_version_is_stored_without(
    dynamodb: "DynamoDBClient", payload: Any
) -> None:
    take(ledger_on(dynamodb), status("success", payload=payload), guid="d", at=0)
    assert "version" not in deployment(dynamodb)
    assert deployment(dynamodb)["succeeded_at"] == "2025-01-15T10:02:00.000Z"
