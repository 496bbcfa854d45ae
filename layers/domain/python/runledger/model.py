"""What a job is and how it takes in what is said about it. Pure: no clock, no network, only the standard library."""

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import Any

from runledger import times

INPUTS_KEPT = 50
NEVER = "9999"  # sorts behind every instant
FAILURES = {"failure", "timed_out", "startup_failure"}
LEAST_BILLED_SECONDS = 60
SECONDS_PER_HOUR = 3600
MICRODOLLAR = Decimal("0.000001")


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
    RUNNER_SCHEDULED = "runner_scheduled"
    RUNNER_RESCHEDULED = "runner_rescheduled"
    RUNNER_ATTACHED = "runner_attached"
    RUNNER_REBALANCE_RECOMMENDED = "runner_rebalance_recommended"
    RUNNER_INTERRUPTED = "runner_interrupted"
    RUNNER_TERMINATED = "runner_terminated"
    RUNNER_TAKEN = "runner_taken"
    RERUN_REQUESTED = "rerun_requested"
    RERUN_REFUSED = "rerun_refused"


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
    price_per_hour: Decimal | None = None
    on_demand_price_per_hour: Decimal | None = None
    interrupted_at: str | None = None
    terminated_at: str | None = None


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
    releases: str | None = None  # the runner that this job has no more
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
    was_interrupted: bool | None = None
    usage_in_seconds: int | None = None
    usage_in_dollars: Decimal | None = None
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
        return replace(
            self,
            **self._learnt(receipt)
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
    def carried_over(self) -> bool:
        """A copy, made by a partial re-run, of an earlier attempt's job: whatever it tells happened to that one."""
        return self.completed_at is not None and self.completed_at < self.created_at

    @property
    def failed(self) -> bool:
        return self.conclusion in FAILURES

    def has_taken(self, receipt: Receipt) -> bool:
        return receipt.token in self.inputs

    def knows(self, receipt: Receipt) -> bool:
        return any(token.startswith(receipt.short_id) for token in self.inputs)

    def _learnt(self, receipt: Receipt) -> dict[str, Any]:
        """Facts merge: who is as far or further may correct what is known, who is behind only adds what is not.

        Of the instance, the last scheduling is true, however far the job is; facts of two instances never mix.
        """
        facts = receipt.facts
        if receipt.releases:
            return dict.fromkeys(INSTANCE_FACTS) if self._loses(receipt) else {}
        leads = receipt.status is not None and receipt.status.rank >= self.status.rank
        same = self.instance_id is None or facts.instance_id in (None, self.instance_id)
        last = facts.scheduled_at is not None and facts.scheduled_at >= (self.scheduled_at or "")
        learnt = dict.fromkeys(INSTANCE_FACTS) if last and not same else {}
        for name in FACTS:
            said = getattr(facts, name)
            corrects, belongs = (last, same or last) if name in INSTANCE_FACTS else (leads, True)
            if said is not None and (corrects or (belongs and getattr(self, name) is None)):
                learnt[name] = said
        return learnt

    def _loses(self, receipt: Receipt) -> bool:
        """A job that has begun keeps its runner, whatever is said."""
        return self.status is Status.SCHEDULED and self.instance_id == receipt.releases

    def _status_after(self, receipt: Receipt) -> Status:
        if receipt.releases:
            return Status.QUEUED if self._loses(receipt) else self.status
        if receipt.status is None or receipt.status.rank < self.status.rank:
            return self.status
        if receipt.status.rank == self.status.rank and receipt.received_at < self.last_updated_at:
            return self.status
        return receipt.status

    def _measured(self) -> "Job":
        """What follows from the facts. What indexes project is written once, at completion: so it is paid once, too."""
        queued = max(0, times.ms_between(self.received_at, self.scheduled_at)) if self.scheduled_at else None
        job = replace(self, was_interrupted=self._interrupted(), internal_queue_duration_in_ms=queued)
        if job.status is not Status.COMPLETED or job.completed_at is None:
            return job
        if job.started_at is None or job.carried_over:
            return replace(job, usage_in_seconds=0, usage_in_dollars=dollars(0, job.price_per_hour))
        used = max(0, times.ms_between(job.started_at, job.completed_at)) // times.MS_PER_SECOND
        return replace(
            job,
            usage_in_seconds=used,
            usage_in_dollars=dollars(used, job.price_per_hour),
            overall_queue_duration_in_ms=max(0, times.ms_between(job.created_at, job.started_at)),
        )

    def _interrupted(self) -> bool | None:
        """A warning before the end, or a death under the running job; a runner that goes after its job is not one."""
        end = self.completed_at or NEVER
        warned = self.interrupted_at is not None and self.interrupted_at <= end
        died = self.terminated_at is not None and self.started_at is not None and self.terminated_at < end
        return True if warned or died else None if self.was_interrupted is None else False


def dollars(seconds: int, per_hour: Decimal | None) -> Decimal | None:
    """EC2 bills by the second, for a minute at least; an unknown price stays unknown."""
    if per_hour is None:
        return None
    billed = max(seconds, LEAST_BILLED_SECONDS) if seconds else 0
    exact = (per_hour * billed / SECONDS_PER_HOUR).quantize(MICRODOLLAR, ROUND_HALF_UP)
    # Plain digits: neither 0E-6 nor trailing zeros, which DynamoDB would not give back.
    return Decimal(f"{exact.normalize():f}")


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


FACTS = tuple(each.name for each in dataclasses.fields(Facts))
INSTANCE_FACTS = (
    *("scheduled_at", "instance_id", "instance_type", "instance_lifecycle", "fleet_id", "pool_name"),
    *("price_per_hour", "on_demand_price_per_hour", "terminated_at"),
)
