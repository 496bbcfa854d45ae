"""Finds events that a failed attempt wrote, and whose changes the job doesn't have. Pure."""

from collections.abc import Iterable

from runledger.model.inputs import Event, Receipt
from runledger.model.job import INPUTS_KEPT, Job


def unsaved(job: Job, events: Iterable[Event]) -> list[Event]:
    """The events must have been read before the job: then the job has the token of every event that was saved.

    Empty once the job has dropped tokens.
    """
    if len(job.inputs) >= INPUTS_KEPT:
        return []
    return [event for event in events if not _is_saved(job, event)]


def _is_saved(job: Job, event: Event) -> bool:
    """Each time an input changes the job, another event is written and the job stores the token again."""
    receipt = Receipt(
        installation_id=event.installation_id,
        job_id=event.job_id,
        delivery_id=event.delivery_id,
        received_at=event.timestamp,
        event_type=event.event_type,
        source=event.source,
    )
    return any(event.short_id == receipt.nth_short_id(nth) for nth in range(job.inputs.count(receipt.token)))
