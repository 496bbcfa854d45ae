"""What a job is and how it takes in what is said about it. Pure: no clock, no network, only the standard library."""

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from runledger import times

INPUTS_KEPT = 50
NEVER = "9999"  # sorts behind every instant
FAILURES = {"failure", "timed_out", "startup_failure"}


class Status(StrEnum):
    QUEUED = "queued"
    WAITING = "waiting"
    SCHEDULED = "scheduled"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"

    @property
    def rank(self) -> int:
        """A job never goes back to a lower rank; between equals the later received wins."""
        return _RANK[self]


_RANK = {Status.QUEUED: 0, Status.WAITING: 0, Status.SCHEDULED: 1, Status.IN_PROGRESS: 2, Status.COMPLETED: 3}


class EventType(StrEnum):
    WEBHOOK_QUEUED = "webhook_queued"
    WEBHOOK_WAITING = "webhook_waiting"
    WEBHOOK_IN_PROGRESS = "webhook_in_progress"
    WEBHOOK_COMPLETED = "webhook_completed"
    DEPLOYMENT_REQUESTED = "deployment_requested"
    DEPLOYMENT_APPROVED = "deployment_approved"
    DEPLOYMENT_REJECTED = "deployment_rejected"


class Source(StrEnum):
    GITHUB_WEBHOOK = "github_webhook"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What one input, or all of them together, know of a job. Absent is None, and None says nothing."""

    run_id: int | None = None
    run_attempt: int | None = None
    org_name: str | None = None
    repo_full_name: str | None = None
    repo_is_private: bool | None = None
    workflow_id: int | None = None
    workflow_name: str | None = None
    job_name: str | None = None
    head_sha: str | None = None
    head_branch: str | None = None
    default_branch: str | None = None
    job_html_url: str | None = None
    labels: tuple[str, ...] | None = None
    custom_properties: Mapping[str, Any] | None = None
    deployment_id: int | None = None
    environment: str | None = None
    created_at: str | None = None
    scheduled_at: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    conclusion: str | None = None
    runner_id: int | None = None
    runner_name: str | None = None
    runner_group_id: int | None = None
    instance_id: str | None = None
    instance_type: str | None = None
    instance_lifecycle: str | None = None
    fleet_id: str | None = None
    pool_name: str | None = None
    was_interrupted: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """One input, received once. A redelivery has the same `delivery_id` and another `received_at`."""

    installation_id: int
    job_id: int
    delivery_id: str
    received_at: str
    event_type: EventType
    source: Source
    status: Status | None = None
    action: str | None = None
    received_by: str | None = None
    facts: Facts = field(default_factory=Facts)

    @property
    def short_id(self) -> str:
        return _digest(self.delivery_id, 8)

    @property
    def token(self) -> str:
        """Tells our own retry (the same receipt) from GitHub's redelivery (the same delivery, received again)."""
        return self.short_id + _digest(self.received_at, 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line of a job's history."""

    installation_id: int
    job_id: int
    timestamp: str
    event_type: EventType
    short_id: str
    source: Source
    delivery_id: str
    status: Status
    action: str | None = None
    changes: Mapping[str, Mapping[str, Any]] | None = None
    duplicate: bool | None = None
    received_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Facts):
    installation_id: int
    job_id: int
    status: Status
    created_at: str
    received_at: str
    last_updated_at: str
    version: int = 0
    inputs: tuple[str, ...] = ()
    usage_in_seconds: int | None = None
    overall_queue_duration_in_ms: int | None = None
    internal_queue_duration_in_ms: int | None = None

    @classmethod
    def opened_by(cls, receipt: Receipt) -> "Job":
        """A job of which nothing is known yet but that `receipt` speaks of it."""
        return cls(
            installation_id=receipt.installation_id,
            job_id=receipt.job_id,
            status=receipt.status or Status.QUEUED,
            created_at=receipt.facts.created_at or receipt.received_at,
            received_at=receipt.received_at,
            last_updated_at=receipt.received_at,
        )

    def absorb(self, receipt: Receipt) -> "Job":
        """Facts merge: who is as far or further may correct what is known, who is behind only adds what is not."""
        leads = receipt.status is not None and receipt.status.rank >= self.status.rank
        learnt = {
            name: said
            for name in FACTS
            if (said := getattr(receipt.facts, name)) is not None and (leads or getattr(self, name) is None)
        }
        return replace(
            self,
            **learnt
            | {
                "status": self._status_after(receipt),
                "created_at": min(self.created_at, receipt.facts.created_at or NEVER),
                "received_at": min(self.received_at, receipt.received_at),
                "last_updated_at": max(self.last_updated_at, receipt.received_at),
                "version": self.version + 1,
                "inputs": (*self.inputs, receipt.token)[-INPUTS_KEPT:],
            },
        )._measured()

    @property
    def failed(self) -> bool:
        return self.conclusion in FAILURES

    def has_taken(self, receipt: Receipt) -> bool:
        return receipt.token in self.inputs

    def knows(self, receipt: Receipt) -> bool:
        return any(token.startswith(receipt.short_id) for token in self.inputs)

    def _status_after(self, receipt: Receipt) -> Status:
        if receipt.status is None or receipt.status.rank < self.status.rank:
            return self.status
        if receipt.status.rank == self.status.rank and receipt.received_at < self.last_updated_at:
            return self.status
        return receipt.status

    def _measured(self) -> "Job":
        """Durations are written once, at completion: indexes that project them are paid once, too."""
        if self.status is not Status.COMPLETED or self.completed_at is None:
            return self
        if self.started_at is None or self.completed_at < self.created_at:
            # It never ran, or it is a copy of an earlier attempt's job, which was counted there.
            return replace(self, usage_in_seconds=0)
        return replace(
            self,
            usage_in_seconds=max(0, times.ms_between(self.started_at, self.completed_at)) // times.MS_PER_SECOND,
            overall_queue_duration_in_ms=max(0, times.ms_between(self.created_at, self.started_at)),
        )


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


FACTS = tuple(each.name for each in dataclasses.fields(Facts))
