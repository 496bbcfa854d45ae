"""Rebuilds a job whose item is lost from its history, by applying the changes that `decide` wrote. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from decimal import Decimal
from typing import Any

from runledger.model.inputs import MACHINE_MESSAGES, Event, EventType, Receipt, Source, Status
from runledger.model.job import INPUTS_KEPT, Job
from runledger.recording.decision import TRACKED

MONEY = tuple(field.name for field in fields(Job) if field.type == Decimal | None)
REPORTED_AT = {
    "queued_reported_at": (Status.QUEUED, EventType.WEBHOOK_QUEUED),
    "waiting_reported_at": (Status.WAITING, EventType.WEBHOOK_WAITING),
}


def replay(history: Iterable[Event], identity: Mapping[str, Any] | None = None) -> Job | None:
    """None without events. `identity` is what the history omits, because it never changes: names, run and repository.

    Two things can't be restored. Webhooks that the job has absorbed are no longer recognised as duplicates, because
    the history doesn't contain their digests. Changes in events that have expired are missing, unless a later event
    changed the same attribute.
    """
    events = sorted(history, key=lambda event: (event.version, event.timestamp))
    if not events:
        return None
    values = dict(identity or {})
    for event in events:
        values |= {name: change.get("to") for name, change in (event.changes or {}).items() if name in TRACKED}
    # An integer attribute is read as an int: a price of $2 must be a Decimal.
    values |= {name: Decimal(values[name]) for name in MONEY if values.get(name) is not None}
    received = [event.timestamp for event in events if event.event_type not in MACHINE_MESSAGES]
    first_at = min(received or [event.timestamp for event in events])
    status = Status(values.get("status") or events[-1].status)
    bookkeeping = {
        "installation_id": events[0].installation_id,
        "job_id": events[0].job_id,
        "status": status,
        "created_at": values.get("created_at") or first_at,
        "received_at": first_at,
        "last_updated_at": max((event.timestamp for event in events if not event.duplicate), default=first_at),
        "version": events[-1].version,
        "inputs": tuple(_token(event) for event in events if event.source is Source.INTERNAL)[-INPUTS_KEPT:],
    }
    return Job(**values | bookkeeping | _reported_at(events, status))


def _reported_at(events: Iterable[Event], status: Status) -> dict[str, str | None]:
    """The newest report of each status. A job keeps them until a runner is scheduled."""
    if status.rank > Status.QUEUED.rank:
        return {}
    return {
        name: max((event.timestamp for event in events if _reports(event, *reports)), default=None)
        for name, reports in REPORTED_AT.items()
    }


def _reports(event: Event, status: Status, event_type: EventType) -> bool:
    changed_to = ((event.changes or {}).get("status") or {}).get("to")
    return event.event_type is event_type or (event.event_type in MACHINE_MESSAGES and changed_to == status)


def _token(event: Event) -> str:
    return Receipt(
        installation_id=event.installation_id,
        job_id=event.job_id,
        delivery_id=event.delivery_id,
        received_at=event.timestamp,
        event_type=event.event_type,
        source=event.source,
    ).token
