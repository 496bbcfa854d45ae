"""Deliveries that are rejected permanently, or lost in large numbers, delay no other tenant's redeliveries."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from runledger.model import times
from runledger.model.errors import UnavailableError
from runledger.model.reports import WEBHOOK_PATH
from runledger.reconciliation import deliveries
from runledger.reconciliation.deliveries import REDELIVERED_AT_MOST, DeliveryCheck
from runledger.reconciliation.tally import Count
from runledger.tables.lost_deliveries import LostDeliveries
from runledger_github.errors import Refused

from tests.reconciler.wiring import STRANGER, Clock, pass_at
from tests.support.ledgers import RUNNERS
from tests.support.webhooks import INSTALLATION

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TRIES = 6
Warn = Callable[[str, Exception], None]


def ignore(_item: str, _error: Exception) -> None:
    pass


@dataclass
class Log:
    """GitHub's log of the App's deliveries. `redelivered` are the ids of the deliveries that were redelivered."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    redelivered: list[int] = field(default_factory=list)

    def hook_url(self) -> str:
        return f"https://example.com{WEBHOOK_PATH}"

    def hook_deliveries(self, _cursor: str | None = None) -> Iterator[Any]:
        yield SimpleNamespace(deliveries=self.rows[::-1], next_cursor=None)

    def redeliver(self, delivery_id: int) -> None:
        self.redelivered.append(delivery_id)


class Bed:
    def __init__(self, dynamodb: "DynamoDBClient") -> None:
        self.clock, self.log = Clock(), Log()
        self.lost = LostDeliveries(dynamodb, RUNNERS)

    def deliver(self, status_code: int, *, installation_id: int = INSTALLATION, guid: str | None = None) -> int:
        delivery_id = len(self.log.rows) + 1
        row = {"id": delivery_id, "guid": guid or f"{status_code} {delivery_id:05}", "event": "workflow_job"}
        about = {"status_code": status_code, "installation_id": installation_id, "delivered_at": self.clock.text()}
        self.log.rows.append(row | about)
        return delivery_id

    def pass_over(self, *, minutes: float = 30, warn: Warn | None = None) -> Mapping[Count, int]:
        """Without `warn`, an error fails the test."""
        self.clock.move(minutes=minutes)
        current = pass_at(self.clock.text(), pass_id="1")
        current.tally.warn = warn or current.tally.warn
        assert DeliveryCheck(log=self.log, lost=self.lost, at_most=TRIES).check(current)
        return current.tally.counts

    def passes(self, number: int) -> Sequence[int]:
        for _ in range(number):
            self.pass_over()
        return self.log.redelivered


@pytest.fixture
def bed(dynamodb: "DynamoDBClient") -> Bed:
    return Bed(dynamodb)


@pytest.mark.parametrize(("status_code", "tries"), [(400, 0), (413, 0), (401, 4), (403, 3), (500, 4), (0, 4)])
def test_a_delivery_is_redelivered_only_as_often_as_its_response_may_change(
    bed: Bed, status_code: int, tries: int
) -> None:
    """Within 12 hours: after 10, 40 and 160 minutes, and after 11 hours."""
    bed.deliver(status_code)
    assert len(bed.passes(26)) == tries


def test_a_delivery_that_is_refused_when_it_is_redelivered_is_given_up(bed: Bed) -> None:
    bed.deliver(500, guid="one")
    bed.passes(1)
    bed.deliver(400, guid="one")
    assert bed.passes(10) == [1]


def test_refused_deliveries_of_one_tenant_keep_nothing_of_another_waiting(bed: Bed) -> None:
    for _ in range(REDELIVERED_AT_MOST + 50):
        bed.deliver(403, installation_id=STRANGER, guid=None)
    lost = [bed.deliver(500) for _ in range(20)]
    bed.pass_over()
    assert set(lost) <= set(bed.log.redelivered)


def test_requests_that_github_rejects_are_bounded_as_well(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(REDELIVERED_AT_MOST + 50):
        bed.deliver(500)
    calls: list[int] = []

    def reject(delivery_id: int) -> None:
        calls.append(delivery_id)
        raise UnavailableError("GitHub refuses it for now")

    monkeypatch.setattr(bed.log, "redeliver", reject)
    bed.pass_over()
    assert len(calls) == REDELIVERED_AT_MOST


def test_requests_that_github_always_rejects_delay_no_other_delivery(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "REDELIVERED_AT_MOST", 3)
    rejected = {bed.deliver(500) for _ in range(3)}
    bed.clock.move(minutes=1)
    lost = bed.deliver(500)
    requests: list[int] = []

    def redeliver(delivery_id: int) -> None:
        requests.append(delivery_id)
        if delivery_id in rejected:
            raise Refused("POST attempts", status=422, message="this delivery can't be redelivered")

    monkeypatch.setattr(bed.log, "redeliver", redeliver)
    bed.pass_over(warn=ignore)
    assert set(requests) == rejected
    bed.pass_over(warn=ignore)
    assert lost in requests


def test_a_pass_is_shared_among_installations(bed: Bed) -> None:
    for _ in range(2 * REDELIVERED_AT_MOST):
        bed.deliver(0, installation_id=STRANGER)
    of_others = {
        bed.deliver(500, installation_id=installation_id) for installation_id in range(1, 31) for _ in range(3)
    }
    counts = bed.pass_over()
    assert of_others <= set(bed.log.redelivered)
    assert (counts[Count.REDELIVERED], counts[Count.POSTPONED]) == (REDELIVERED_AT_MOST, 2 * REDELIVERED_AT_MOST - 110)


def test_with_more_installations_than_a_pass_has_redeliveries_each_has_its_turn(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "REDELIVERED_AT_MOST", 3)
    every = {bed.deliver(500, installation_id=installation_id) for installation_id in range(1, 10)}
    for _ in range(3):
        bed.pass_over(minutes=1)
    assert sorted(bed.log.redelivered) == sorted(every)


def test_the_oldest_that_was_redelivered_least_comes_first(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "REDELIVERED_AT_MOST", 1)
    old = bed.deliver(500, guid="z")
    bed.clock.move(minutes=1)
    new = bed.deliver(500, guid="a")
    assert bed.passes(3) == [old, new, old]


def test_a_tenant_has_a_bounded_number_of_lost_deliveries(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "LOST_AT_MOST", 10)
    for _ in range(15):
        bed.deliver(500, installation_id=STRANGER)
    mine = bed.deliver(500)
    bed.pass_over()
    stored = list(bed.lost.all())
    assert len(stored) == 11
    assert mine in {each.delivery_id for each in stored}


def test_what_was_stored_before_installations_were_is_redelivered(bed: Bed, dynamodb: "DynamoDBClient") -> None:
    now = times.earlier(bed.clock.text(), seconds=60)
    item = {"PK": "lost_deliveries", "SK": "old", "guid": "old", "delivered_at": now, "event": "workflow_job"}
    attributes: dict[str, Any] = {name: {"S": value} for name, value in item.items()}
    dynamodb.put_item(TableName=RUNNERS, Item=attributes | {"delivery_id": {"N": "7"}, "asked": {"N": "0"}})
    assert bed.passes(1) == [7]
