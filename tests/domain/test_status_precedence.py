"""Which status a job has after two inputs: every pair."""

from itertools import permutations, product

import pytest
from runledger.model.inputs import EventType, Facts, Receipt, Source, Status
from runledger.model.job import Job
from runledger.recording.decision import decide

from tests.support.webhooks import IN_PROGRESS, QUEUED, QUEUED_AGAIN, WAITING, receipt

EARLY, LATE = "2025-01-15T10:00:00.000Z", "2025-01-15T10:05:00.000Z"
ORDER = (Status.QUEUED, Status.SCHEDULED, Status.IN_PROGRESS, Status.COMPLETED)


def reported(status: Status | None, *, at: str, delivery_id: str) -> Receipt:
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
    for each in receipts:
        job = job.absorb(each)
    return job.status


@pytest.mark.parametrize(("first", "second"), list(product(Status, Status)))
def test_the_further_status_stays_and_between_equals_the_later_received_wins(first: Status, second: Status) -> None:
    place = {**{status: ORDER.index(status) for status in ORDER}, Status.WAITING: 0}
    expected = second if place[second] >= place[first] else first
    assert after(reported(first, at=EARLY, delivery_id="a"), reported(second, at=LATE, delivery_id="b")) is expected


def test_a_waiting_that_was_received_before_queued_but_recorded_after_it_does_not_win() -> None:
    queued_again = reported(Status.QUEUED, at=LATE, delivery_id="b")
    retried_waiting = reported(Status.WAITING, at=EARLY, delivery_id="a")
    assert after(queued_again, retried_waiting) is Status.QUEUED


def test_an_input_without_a_status_changes_none() -> None:
    assert after(reported(Status.WAITING, at=EARLY, delivery_id="a"), reported(None, at=LATE, delivery_id="b")) is (
        Status.WAITING
    )


APPROVED = [
    pytest.param([receipt(QUEUED, at=0), receipt(WAITING, at=10), receipt(QUEUED_AGAIN, at=70)], id="own body"),
    # GitHub may send the second `queued` with exactly the body of the first.
    pytest.param([receipt(QUEUED, at=0), receipt(WAITING, at=10), receipt(QUEUED, at=70, guid="2nd")], id="same body"),
]


def decided(receipts: tuple[Receipt, ...]) -> Job:
    job: Job | None = None
    for each in receipts:
        job = decide(job, each).job
    assert job is not None
    return job


@pytest.mark.parametrize("life", APPROVED)
def test_an_approved_job_is_queued_in_every_order(life: list[Receipt]) -> None:
    for order in permutations(life):
        assert decided(order).status is Status.QUEUED, [each.received_at for each in order]


@pytest.mark.parametrize("life", APPROVED)
def test_a_job_whose_approval_is_missing_waits_in_every_order(life: list[Receipt]) -> None:
    for order in permutations(life[:2]):
        assert decided(order).status is Status.WAITING


@pytest.mark.parametrize("life", APPROVED)
def test_an_input_about_something_else_does_not_make_a_waiting_late(life: list[Receipt]) -> None:
    queued, waiting, _ = life
    reviewed = reported(None, at="2025-01-15T10:09:00.000Z", delivery_id="a review")
    for order in permutations([queued, waiting, reviewed]):
        job = Job.opened_by(order[0])
        for each in order:
            job = job.absorb(each)
        assert job.status is Status.WAITING


def test_report_times_are_kept_only_while_they_can_decide() -> None:
    waiting = decided((receipt(QUEUED, at=0), receipt(WAITING, at=10)))
    assert (waiting.queued_reported_at, waiting.waiting_reported_at) == (
        "2025-01-15T10:00:00.123Z",
        "2025-01-15T10:00:10.123Z",
    )
    started = decide(waiting, receipt(IN_PROGRESS, at=90)).job
    assert (started.queued_reported_at, started.waiting_reported_at) == (None, None)


def test_of_two_reports_at_the_same_instant_waiting_is_the_later_one() -> None:
    same_instant = [receipt(QUEUED), receipt(WAITING)]
    assert {decided(order).status for order in permutations(same_instant)} == {Status.WAITING}
