"""The registry lists the installations to request from GitHub, without the deleted ones."""

from itertools import permutations
from typing import TYPE_CHECKING

import pytest

from tests.support import messages
from tests.support.beds import empty
from tests.support.ledgers import ledger_on
from tests.support.memory import in_memory
from tests.support.webhooks import INSTALLATION, QUEUED, receipt
from tests.tables.test_runs import take

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

STORY = {
    "created": "2025-01-15T06:00:00Z",
    "suspend": "2025-01-15T07:00:00Z",
    "unsuspend": "2025-01-15T08:00:00Z",
    "deleted": "2025-01-15T06:00:00Z",  # GitHub writes when it was last changed before that
}


@in_memory
@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        (("created",), [INSTALLATION]),
        (("created", "suspend"), []),
        (("created", "suspend", "unsuspend"), [INSTALLATION]),
        (("created", "suspend", "unsuspend", "deleted"), []),
    ],
)
def test_suspended_and_deleted_installations_are_not_polled_in_any_order_of_webhooks(
    dynamodb: "DynamoDBClient", actions: tuple[str, ...], expected: list[int]
) -> None:
    for order in permutations(actions):
        ledger = ledger_on(dynamodb)
        ledger.record(receipt(QUEUED))
        for second, action in enumerate([*order, *order]):
            take(ledger, messages.installation(action, changed=STORY[action]), guid=action, at=second)
        assert ledger.installations.active() == expected
        empty(dynamodb)


def test_an_installation_that_was_only_seen_is_listed(dynamodb: "DynamoDBClient") -> None:
    ledger = ledger_on(dynamodb)
    ledger.record(receipt(QUEUED))
    assert ledger.installations.active() == [INSTALLATION]
