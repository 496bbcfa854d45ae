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


def replay(events: Iterable[Event], identity: Mapping[str, Any] | None = None) -> Job | None:
    """None without events. `identity` is what the history omits, because it never changes: names, run and repository.

    Two things can't be restored. Webhooks that the job has absorbed are no longer recognised as duplicates, because
    the history doesn't contain their digests. Changes in events that have expired are missing, unless a later event
    changed the same attribute.
    """
    lines = sorted(events, key=lambda event: (event.version, event.timestamp))
    if not lines:
        return None
    values = dict(identity or {})
    for line in lines:
        values |= {name: change.get("to") for name, change in (line.changes or {}).items() if name in TRACKED}
    # An integer attribute is read as an int: a price of $2 must be a Decimal.
    values |= {name: Decimal(values[name]) for name in MONEY if values.get(name) is not None}
    received = [line.timestamp for line in lines if line.event_type not in MACHINE_MESSAGES]
    first_at = min(received or [line.timestamp for line in lines])
    status = Status(values.get("status") or lines[-1].status)
    bookkeeping = {
        "installation_id": lines[0].installation_id,
        "job_id": lines[0].job_id,
        "status": status,
        "created_at": values.get("created_at") or first_at,
        "received_at": first_at,
        "last_updated_at": max((line.timestamp for line in lines if not line.duplicate), default=first_at),
        "version": lines[-1].version,
        "inputs": tuple(_token(line) for line in lines if line.source is Source.INTERNAL)[-INPUTS_KEPT:],
    }
    return Job(**values | bookkeeping | _reported_at(lines, status))


def _reported_at(lines: Iterable[Event], status: Status) -> dict[str, str | None]:
    """The newest report of each status. A job keeps them until a runner is scheduled."""
    if status.rank > Status.QUEUED.rank:
        return {}
    return {
        name: max((line.timestamp for line in lines if _reports(line, *reports)), default=None)
        for name, reports in REPORTED_AT.items()
    }


def _reports(line: Event, status: Status, event_type: EventType) -> bool:
    changed_to = ((line.changes or {}).get("status") or {}).get("to")
    return line.event_type is event_type or (line.event_type in MACHINE_MESSAGES and changed_to == status)


def _token(line: Event) -> str:
    return Receipt(
        installation_id=line.installation_id,
        job_id=line.job_id,
        delivery_id=line.delivery_id,
        received_at=line.timestamp,
        event_type=line.event_type,
        source=line.source,
    ).token
