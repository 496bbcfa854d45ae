"""The steps of the demo: GitHub sends a webhook, an event is published, or the demo waits for the ledger."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from local.demo.payloads.entities import Delivery, Job, Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class BusEvent:
    """Events of launchers go to Runledger's bus, those of AWS to the default bus."""

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
    """Waits until an attribute has a value, because the following steps depend on it."""

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
