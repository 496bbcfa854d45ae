"""What the ledger records about the runner of a job: its launch and its interruption."""

from runledger.model.inputs import EventType, Facts, Receipt, Source, Status

from tests.support.runner_events import INSTANCE
from tests.support.webhooks import INSTALLATION


def interrupted(job_id: int) -> Receipt:
    at = "2025-01-15T10:05:00.000Z"
    return Receipt(
        installation_id=INSTALLATION,
        job_id=job_id,
        delivery_id=f"warning of {job_id}",
        received_at=at,
        event_type=EventType.RUNNER_INTERRUPTED,
        source=Source.INTERNAL,
        facts=Facts(instance_id=INSTANCE, interrupted_at=at),
    )


def scheduled(job_id: int) -> Receipt:
    at = "2025-01-15T10:01:00.000Z"
    return Receipt(
        installation_id=INSTALLATION,
        job_id=job_id,
        delivery_id=f"launch for {job_id}",
        received_at=at,
        event_type=EventType.RUNNER_SCHEDULED,
        source=Source.INTERNAL,
        status=Status.SCHEDULED,
        facts=Facts(instance_id=INSTANCE, scheduled_at=at),
    )
