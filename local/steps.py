"""What the demo does in turn: GitHub sends a webhook, somebody publishes an event, or a story waits for the ledger."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from local.payloads.subjects import Delivery, Job, Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class BusEvent:
    """A launcher's goes to our bus; AWS's own go to the default one."""

    source: str
    detail_type: str
    subject: Job
    runner_id: str
    sent_at: datetime
    detail: Payload = field(repr=False, hash=False)

    @property
    def from_aws(self) -> bool:
        return self.source.startswith("aws.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaited:
    """What the ledger shows once it has acted: told without it, the rest would be another story."""

    subject: Job
    sent_at: datetime
    table: Literal["workflow_jobs", "workflow_runs", "runners"]
    key: str
    attribute: str
    value: str


Step = Delivery | BusEvent | Awaited


def deliveries(steps: Iterable[Step]) -> list[Delivery]:
    return [step for step in steps if isinstance(step, Delivery)]


def bus_events(steps: Iterable[Step]) -> list[BusEvent]:
    return [step for step in steps if isinstance(step, BusEvent)]
