"""When a job was created: what GitHub reports counts more than what was guessed before."""

from dataclasses import replace
from itertools import permutations

from runledger.model.inputs import EventType, Facts, Receipt, Source

from tests.support.ledgers import decided
from tests.support.webhooks import IN_PROGRESS, INSTALLATION, JOB, QUEUED, receipt

CREATED = "2025-01-15T10:00:00.000Z"


def internal(event_type: EventType, *, at: str) -> Receipt:
    return Receipt(
        installation_id=INSTALLATION,
        job_id=JOB,
        delivery_id=f"{event_type} at {at}",
        received_at=at,
        event_type=event_type,
        source=Source.INTERNAL,
        facts=Facts(),
    )


# A launcher whose clock is two seconds behind GitHub's.
SCHEDULED = internal(EventType.RUNNER_SCHEDULED, at="2025-01-15T09:59:58.000Z")
ATTACHED = internal(EventType.RUNNER_ATTACHED, at="2025-01-15T09:59:59.000Z")


def test_a_reported_creation_replaces_a_guessed_one_in_every_order() -> None:
    for order in permutations([SCHEDULED, ATTACHED, receipt(QUEUED), receipt(IN_PROGRESS, at=9)]):
        job = decided(order)
        assert (job.created_at, job.created_at_is_guessed) == (CREATED, None)


def test_without_a_report_the_first_input_counts_in_every_order() -> None:
    for order in permutations([SCHEDULED, ATTACHED]):
        assert decided(order).created_at == SCHEDULED.received_at


def test_the_earliest_report_counts() -> None:
    later = replace(receipt(IN_PROGRESS, at=9), facts=Facts(created_at="2025-01-15T10:00:07.000Z"))
    for order in permutations([receipt(QUEUED), later]):
        assert decided(order).created_at == CREATED
