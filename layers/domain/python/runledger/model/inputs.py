"""The inputs of a job: webhooks, launcher events and messages about machines. Pure.

Facts      what an input reports about the job
Receipt    one input, as it was received, with its facts
Event      the history event that it produces
"""

import hashlib
from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any

from runledger.model.dataclass import dataclass

SHORT_ID_LENGTH, INSTANT_LENGTH = 8, 6
INPUT_TOKEN_LENGTH = SHORT_ID_LENGTH + INSTANT_LENGTH
# Four digits distinguish deliveries of the same body.
BODY_ID_LENGTH, DELIVERY_ID_LENGTH = 8, 4
WEBHOOK_TOKEN_LENGTH = BODY_ID_LENGTH + DELIVERY_ID_LENGTH + INSTANT_LENGTH


class Status(StrEnum):
    QUEUED = "queued"
    WAITING = "waiting"
    SCHEDULED = "scheduled"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"

    @property
    def rank(self) -> int:
        """A report with a lower rank doesn't change the status. Between queued and waiting, the later report wins.

        Only the loss of its machine moves a job back, from scheduled to queued.
        """
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
    RUNNER_REQUESTED = "runner_requested"
    JOB_RECONCILED = "job_reconciled"


class Conclusion(StrEnum):
    """The conclusions that Runledger treats specially.

    GitHub has more and may add others: `Facts.conclusion` is any text.
    """

    SUCCESS = "success"
    FAILURE = "failure"
    TIMED_OUT = "timed_out"
    STARTUP_FAILURE = "startup_failure"
    CANCELLED = "cancelled"


class Lifecycle(StrEnum):
    ON_DEMAND = "on-demand"
    SPOT = "spot"


class Source(StrEnum):
    GITHUB_WEBHOOK = "github_webhook"
    INTERNAL = "internal"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What one input, or all inputs together, report about a job. None means that the value is not reported."""

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
    approval_requested_at: str | None = None
    approved_at: str | None = None
    rejected_at: str | None = None
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
    runner_requests: int | None = None
    runner_requested_at: str | None = None


PLANS = {EventType.RUNNER_SCHEDULED, EventType.RUNNER_RESCHEDULED}
MACHINE_MESSAGES = {
    *(EventType.RUNNER_ATTACHED, EventType.RUNNER_REBALANCE_RECOMMENDED, EventType.RUNNER_INTERRUPTED),
    *(EventType.RUNNER_TERMINATED, EventType.RUNNER_TAKEN),
}


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """One input, received once. A redelivery has the same `delivery_id` and another `received_at`.

    A webhook has a `body_digest`, the SHA-256 of its body. GitHub signs only the body, so an old body can be sent
    again under any delivery id.
    """

    installation_id: int
    job_id: int
    delivery_id: str
    received_at: str
    event_type: EventType
    source: Source
    status: Status | None = None
    action: str | None = None
    received_by: str | None = None
    body_digest: str | None = None
    # Field names in queued messages: they can't be renamed.
    releases: str | None = None  # the id of the runner that the job has lost
    returns: str | None = None  # the id of the runner that the job had lost and gets back
    is_guess: bool = False  # likely but not reported: it does not change a completed job
    facts: Facts = field(default_factory=Facts)

    @cached_property
    def short_id(self) -> str:
        return _digest(self.delivery_id, SHORT_ID_LENGTH)

    def nth_short_id(self, nth: int) -> str:
        return _digest(f"{self.delivery_id} {nth}", SHORT_ID_LENGTH) if nth else self.short_id

    @cached_property
    def body_id(self) -> str:
        return (self.body_digest or "")[:BODY_ID_LENGTH]

    @cached_property
    def delivery_token(self) -> str:
        """The same for each redelivery by GitHub."""
        return self.body_id + self.short_id[:DELIVERY_ID_LENGTH] if self.body_digest else self.short_id

    @cached_property
    def token(self) -> str:
        """The same for our own retries of this receipt, and different for a redelivery by GitHub."""
        return self.delivery_token + _digest(self.received_at, INSTANT_LENGTH)

    @property
    def account(self) -> str | None:
        """The account of the installation, if GitHub named it. Taken from the repository's name: the scope of a webhook
        secret covers that name, and no other name of the owner in the body.
        """
        return (
            self.facts.repo_full_name.partition("/")[0] if self.facts.org_name and self.facts.repo_full_name else None
        )

    @property
    def owner_named_at(self) -> str | None:
        """When GitHub named the owner of the repository. A redelivery contains the names and times of the first try.

        None unless a webhook did: the owner in other inputs comes from the recorded name of the repository.
        """
        if self.source is not Source.GITHUB_WEBHOOK:
            return None
        dated = (self.facts.created_at, self.facts.started_at, self.facts.completed_at)
        return min(self.received_at, max((each for each in dated if each), default=self.received_at))

    @property
    def is_plan(self) -> bool:
        """A launcher has started a machine for the job."""
        return self.event_type in PLANS

    @property
    def is_about_machine(self) -> bool:
        """A message about the machine in `facts.instance_id`, which has no effect on a job with another machine."""
        return self.event_type in MACHINE_MESSAGES

    @property
    def describes_machine(self) -> bool:
        """The job runs on this machine, and AWS or a launcher has described it."""
        is_described = self.event_type is EventType.RUNNER_ATTACHED and self.facts.scheduled_at is not None
        return is_described and self.returns is None

    @property
    def is_machine_state(self) -> bool:
        """It is compared with the job and not with earlier tokens: a job can lose a machine and get it back."""
        facts = self.facts
        happened = facts.interrupted_at or facts.terminated_at
        return self.is_about_machine and bool(self.releases or self.returns or happened or self.describes_machine)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event of a job's history. `version` is the job's version after it: in that order, events replay the job."""

    installation_id: int
    job_id: int
    timestamp: str
    event_type: EventType
    short_id: str
    source: Source
    delivery_id: str
    status: Status
    version: int
    action: str | None = None
    changes: Mapping[str, Mapping[str, Any]] | None = None
    duplicate: bool | None = None
    received_by: str | None = None


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
