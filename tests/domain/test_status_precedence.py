"""Which status a job has after one thing and then another was said of it: every pair."""

from itertools import product

import pytest
from runledger.model import EventType, Facts, Job, Receipt, Source, Status

EARLY, LATE = "2025-01-15T10:00:00.000Z", "2025-01-15T10:05:00.000Z"
ORDER = (Status.QUEUED, Status.SCHEDULED, Status.IN_PROGRESS, Status.COMPLETED)


def said(status: Status | None, *, at: str, delivery_id: str) -> Receipt:
    return Receipt(
        installation_id=1,
        job_id=2,
        delivery_id=delivery_id,
        received_at=at,
        event_type=EventType.WEBHOOK_QUEUED,
        source=Source.GITHUB_WEBHOOK,
        status=status,
        facts=Facts(created_at=EARLY),
    )


def after(*receipts: Receipt) -> Status:
    job = Job.opened_by(receipts[0])
    for receipt in receipts:
        job = job.absorb(receipt)
    return job.status


@pytest.mark.parametrize(("first", "second"), list(product(Status, Status)))
def test_the_further_status_stays_and_between_equals_the_later_received_wins(first: Status, second: Status) -> None:
    place = {**{status: ORDER.index(status) for status in ORDER}, Status.WAITING: 0}
    expected = second if place[second] >= place[first] else first
    assert after(said(first, at=EARLY, delivery_id="a"), said(second, at=LATE, delivery_id="b")) is expected


def test_a_waiting_that_was_received_before_queued_but_recorded_after_it_does_not_win() -> None:
    queued_again = said(Status.QUEUED, at=LATE, delivery_id="b")
    retried_waiting = said(Status.WAITING, at=EARLY, delivery_id="a")
    assert after(queued_again, retried_waiting) is Status.QUEUED


def test_an_input_that_says_no_status_changes_none() -> None:
    assert after(said(Status.WAITING, at=EARLY, delivery_id="a"), said(None, at=LATE, delivery_id="b")) is (
        Status.WAITING
    )
