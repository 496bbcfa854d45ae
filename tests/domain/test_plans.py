"""Plans and machines of one job: the newest plan counts, and a machine's own times are not those of the job."""

from itertools import permutations

from runledger.model.inputs import EventType, Facts, Receipt, Source, Status

from tests.support.ledgers import decided
from tests.support.webhooks import COMPLETED, INSTALLATION, JOB, QUEUED, receipt


def plan(machine: str, minute: int, **facts: str) -> Receipt:
    at = f"2025-01-15T10:{minute:02}:00.000Z"
    return Receipt(
        installation_id=INSTALLATION,
        job_id=JOB,
        delivery_id=f"{machine} at {minute}",
        received_at=at,
        event_type=EventType.RUNNER_SCHEDULED,
        source=Source.INTERNAL,
        status=Status.SCHEDULED,
        facts=Facts(instance_id=machine, scheduled_at=at, **facts),  # type: ignore[arg-type]
    )


def test_a_newer_plan_without_a_name_has_no_name_in_every_order() -> None:
    plans = plan("i-1", 1, runner_name="first", pool_name="small"), plan("i-2", 2)
    for order in permutations([receipt(QUEUED), *plans]):
        job = decided(order)
        assert (job.instance_id, job.runner_name, job.pool_name) == ("i-2", None, None)


def test_a_newer_plan_brings_its_own_name_in_every_order() -> None:
    plans = plan("i-1", 1, runner_name="first"), plan("i-2", 2, runner_name="second")
    for order in permutations([receipt(QUEUED), *plans]):
        assert decided(order).runner_name == "second"


def test_what_happened_to_a_machine_earlier_is_not_when_the_job_was_first_received() -> None:
    """A warm machine runs before its job is queued, and the first webhooks may be lost."""
    at = "2025-01-15T09:00:00.000Z"
    found = Receipt(
        installation_id=INSTALLATION,
        job_id=JOB,
        delivery_id="found",
        received_at=at,
        event_type=EventType.RUNNER_ATTACHED,
        source=Source.INTERNAL,
        facts=Facts(instance_id="i-1", scheduled_at="2025-01-15T10:12:00.000Z"),
    )
    webhook = receipt(COMPLETED, at=600)
    job = decided((webhook, found))
    assert job.instance_id == "i-1"
    assert job.received_at == webhook.received_at
    assert job.internal_queue_duration_in_ms == 119_877
