"""Events that an attempt has put before it died or failed, and whose changes the job doesn't have. Pure."""

from collections.abc import Iterable

from runledger.model.inputs import Event, Receipt
from runledger.model.job import INPUTS_KEPT, Job


def unsaved(job: Job, events: Iterable[Event]) -> list[Event]:
    """The events must have been read before the job: then every event that was saved is one that the job remembers.

    None of a job that has begun to forget inputs.
    """
    if len(job.inputs) >= INPUTS_KEPT:
        return []
    return [event for event in events if not _is_saved(job, event)]


def _is_saved(job: Job, event: Event) -> bool:
    """An input that is news for the nth time has an event of its own, and the job remembers it n times."""
    receipt = Receipt(
        installation_id=event.installation_id,
        job_id=event.job_id,
        delivery_id=event.delivery_id,
        received_at=event.timestamp,
        event_type=event.event_type,
        source=event.source,
    )
    return any(event.short_id == receipt.nth_short_id(nth) for nth in range(job.inputs.count(receipt.token)))
