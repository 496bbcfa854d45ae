"""What a job is and how it takes in what is said about it. Pure: no clock, no network, only the standard library."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any

from runledger.model import times
from runledger.model.money import dollars, saved
from runledger.model.runner_names import instance_id_in, task_id_in

INPUTS_KEPT = 50
SHORT_ID_LENGTH, INSTANT_LENGTH = 8, 6
INPUT_TOKEN_LENGTH = SHORT_ID_LENGTH + INSTANT_LENGTH
# Among webhooks with the same body, a few digits tell one delivery from the next.
BODY_ID_LENGTH, DELIVERY_ID_LENGTH = 8, 4
WEBHOOK_TOKEN_LENGTH = BODY_ID_LENGTH + DELIVERY_ID_LENGTH + INSTANT_LENGTH
NEVER = "9999"  # sorts behind every instant
SPOT = "spot"
FAILURES = {"failure", "timed_out", "startup_failure"}


class Status(StrEnum):
    QUEUED = "queued"
    WAITING = "waiting"
    SCHEDULED = "scheduled"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"

    @property
    def rank(self) -> int:
        """A job never goes back to a lower rank; between queued and waiting, the later report wins."""
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


class Source(StrEnum):
    GITHUB_WEBHOOK = "github_webhook"
    INTERNAL = "internal"


@dataclass(frozen=True, kw_only=True)
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
    runner_requests: int | None = None
    runner_requested_at: str | None = None


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """One input, received once. A redelivery has the same `delivery_id` and another `received_at`.

    A webhook has a `body_digest`, the SHA-256 of its body. GitHub signs the body and nothing else: whoever holds an old
    body can send it again under any delivery id.
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
    releases: str | None = None  # the runner that this job has no more
    returns: str | None = None  # the runner whose lost plan holds again
    is_guess: bool = False  # what is likely, until it is reported: it changes nothing of a job that has ended
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
        """GitHub's redelivery has the same."""
        return self.body_id + self.short_id[:DELIVERY_ID_LENGTH] if self.body_digest else self.short_id

    @cached_property
    def token(self) -> str:
        """Tells our own retry (the same receipt) from GitHub's redelivery (the same delivery, received again)."""
        return self.delivery_token + _digest(self.received_at, INSTANT_LENGTH)

    @property
    def is_plan(self) -> bool:
        """A launcher has started a machine for the job."""
        return self.event_type in PLANS

    @property
    def is_about_machine(self) -> bool:
        """What a machine's jobs are told. Such a message holds for the machine that it names and no other."""
        return self.event_type in MACHINE_MESSAGES

    @property
    def describes_machine(self) -> bool:
        """The job runs on this machine, and AWS or a launcher has described it."""
        is_described = self.event_type is EventType.RUNNER_ATTACHED and self.facts.scheduled_at is not None
        return is_described and self.returns is None

    @property
    def is_state_of_machine(self) -> bool:
        """It is news unless the job knows it, however often it was told: a job may lose and regain a machine."""
        facts = self.facts
        happened = facts.interrupted_at or facts.terminated_at
        return self.is_about_machine and bool(self.releases or self.returns or happened or self.describes_machine)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line of a job's history. `version` is the job's after it, so lines in that order replay the job."""

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


@dataclass(frozen=True, kw_only=True)
class Job(Facts):
    installation_id: int
    job_id: int
    status: Status
    created_at: str
    received_at: str
    last_updated_at: str
    version: int = 0
    webhooks: tuple[str, ...] = ()  # tokens of webhooks; never dropped
    inputs: tuple[str, ...] = ()  # tokens of internal inputs; the newest INPUTS_KEPT
    # The newest report of each, kept while the job is one of the two.
    queued_reported_at: str | None = None
    waiting_reported_at: str | None = None
    created_at_is_guessed: bool | None = None  # until GitHub reports it, a job was created when it was first heard of
    lost_plan_at: str | None = None  # the newest plan whose machine took another job
    was_interrupted: bool | None = None
    usage_in_seconds: int | None = None
    usage_in_dollars: Decimal | None = None
    saved_in_dollars: Decimal | None = None
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
            created_at_is_guessed=None if receipt.facts.created_at else True,
        )

    def absorb(self, receipt: Receipt) -> "Job":
        job = self._with(
            self._learnt(receipt)
            | self._status_after(receipt)
            | {
                **self._creation(receipt),
                "received_at": self._received_at(receipt),
                "last_updated_at": max(self.last_updated_at, receipt.received_at),
                "version": self.version + 1,
            }
            | self._remembered(receipt)
        )
        return job._with(job._measured())

    def queued_again(self, at: str) -> "Job":
        """After another report, at `at`, of what the job is already: queued."""
        return self._with({"queued_reported_at": at, "version": self.version + 1})

    @property
    def carried_over(self) -> bool:
        """A copy, made by a partial re-run, of an earlier attempt's job: whatever it tells happened to that one."""
        return self.completed_at is not None and self.completed_at < self.created_at

    @property
    def run_is_known(self) -> bool:
        """A launcher may name the run without its attempt, and each attempt is a run of its own here."""
        return self.run_id is not None and self.run_attempt is not None

    @property
    def outlived_its_end(self) -> bool:
        """GitHub names the job's machine, and the machine ended before the job began: so it was started again."""
        return (self.terminated_at or NEVER) < (self.started_at or "") and self.runs_on(self.instance_id)

    def runs_on(self, instance_id: str | None) -> bool:
        """GitHub names a runner, and the name contains the machine's id."""
        machine = (instance_id or "").rpartition("/")[2]
        return bool(machine) and self._is_named_by_github and machine in (self.runner_name or "")

    @property
    def failed(self) -> bool:
        return self.conclusion in FAILURES

    def _remembered(self, receipt: Receipt) -> dict[str, Any]:
        if receipt.body_digest:
            return {"webhooks": (*self.webhooks, receipt.token)}
        return {"inputs": (*self.inputs, receipt.token)[-INPUTS_KEPT:]}

    def may_have_forgotten(self, receipt: Receipt) -> bool:
        """A repeated internal input has the time of the first: once tokens were dropped, a late input may be one."""
        forgets = receipt.body_digest is None and len(self.inputs) >= INPUTS_KEPT
        return forgets and receipt.received_at < self.last_updated_at

    def _with(self, values: Mapping[str, Any]) -> "Job":
        """What `dataclasses.replace` does, which takes ten times as long for so many fields."""
        job = object.__new__(Job)
        vars(job).update(vars(self), **values)
        return job

    def _learnt(self, receipt: Receipt) -> dict[str, Any]:
        """Facts merge: who is as far or further may correct what is known, who is behind only adds what is not.

        Facts of a machine follow rules of their own: see `_machine_after`. GitHub names the runner; until then its
        name is the plan's.
        """
        facts = receipt.facts
        fresh = not self.may_have_forgotten(receipt)
        leads = fresh and receipt.status is not None and receipt.status.rank >= self.status.rank
        learnt = {}
        for name, value in vars(facts).items():
            if value is None or name in REQUEST_FACTS or name in MACHINE_FACTS:
                continue
            if leads or getattr(self, name) is None:
                learnt[name] = value
        if facts.runner_name and not receipt.is_plan and (leads or not self._is_named_by_github):
            learnt["runner_name"] = facts.runner_name
        return learnt | self._machine_after(receipt, fresh=fresh) | self._requested(facts)

    def is_changed_by(self, receipt: Receipt) -> bool:
        """Whether a message about a machine is news: it is about the job's own, and not known yet."""
        if receipt.is_state_of_machine:
            after = self._machine_after(receipt, fresh=not self.may_have_forgotten(receipt))
            return any(getattr(self, name) != value for name, value in after.items())
        return self.instance_id is not None and receipt.facts.instance_id == self.instance_id

    def _machine_after(self, receipt: Receipt, *, fresh: bool) -> dict[str, Any]:
        """Only plans and descriptions assign a machine, and facts of two machines never mix.

        The machine that GitHub names beats every plan. Among plans the newest counts, however far the job is.
        """
        facts = receipt.facts
        if receipt.releases:
            return self._released(receipt) if self._loses(receipt) else {}
        if receipt.returns:
            return self._described(facts) if self._regains(receipt) else {}
        if receipt.is_plan:
            return self._planned(receipt, fresh=fresh)
        if receipt.describes_machine:
            return self._described(facts)
        if not receipt.is_about_machine or facts.instance_id is None or facts.instance_id != self.instance_id:
            return {}
        happened = {name: at for name in HAPPENED if (at := getattr(facts, name)) is not None}
        since = self.scheduled_at or ""
        earlier = {name: at for name, at in happened.items() if since <= at < (getattr(self, name) or NEVER)}
        return self._before_the_end(earlier)

    def _before_the_end(self, happened: dict[str, Any]) -> dict[str, Any]:
        """A warning after the machine's end is about a later life of the machine."""
        end = happened.get("terminated_at", self.terminated_at) or NEVER
        if happened.get("interrupted_at", self.interrupted_at or "") <= end:
            return happened
        return happened | {"interrupted_at": None}

    def _planned(self, receipt: Receipt, *, fresh: bool) -> dict[str, Any]:
        facts = receipt.facts
        given = {name: value for name in MACHINE_FACTS if (value := getattr(facts, name)) is not None}
        if self._is_named_by_github:
            given.pop("runner_name", None)
        if facts.instance_id == self.instance_id:
            planned_at = facts.scheduled_at or ""
            if fresh and planned_at >= (self.scheduled_at or ""):
                return given | self._without_older(planned_at)
            return {name: value for name, value in given.items() if getattr(self, name) is None}
        return self._without_machine() | given if fresh and self._follows(facts) else {}

    def _described(self, facts: Facts) -> dict[str, Any]:
        """All that is known of the machine, so what is absent is unknown."""
        described = {name: getattr(facts, name) for name in DESCRIPTION}
        if facts.instance_id != self.instance_id:
            return self._without_machine() | described
        return described | self._without_older(facts.scheduled_at or "")

    def _without_older(self, since: str) -> dict[str, Any]:
        """What happened to the machine before the job was assigned to it is not about the job."""
        return {name: None for name in HAPPENED if (getattr(self, name) or NEVER) < since}

    def _follows(self, facts: Facts) -> bool:
        """Whether a plan for another machine than the present one gives the job that machine."""
        if self.runs_on(facts.instance_id):
            return True
        if self.runs_on(self.instance_id):
            return False
        newest = max((self.scheduled_at or "", self.instance_id or ""), (self.lost_plan_at or "", NEVER))
        return (facts.scheduled_at or "", facts.instance_id or "") > newest

    @property
    def _is_named_by_github(self) -> bool:
        return self.started_at is not None and self.runner_name is not None

    def _without_machine(self) -> dict[str, Any]:
        kept = {"runner_name"} if self._is_named_by_github else set()
        return dict.fromkeys((MACHINE_FACTS | {"lost_plan_at"}) - kept)

    def _released(self, receipt: Receipt) -> dict[str, Any]:
        """An older plan that arrives late must not be followed."""
        lost = max(self.lost_plan_at or "", receipt.facts.scheduled_at or "")
        return self._without_machine() | {"lost_plan_at": lost or None}

    def _received_at(self, receipt: Receipt) -> str:
        """When the job was first heard of. What happens to machines has times of its own, some before the job."""
        return self.received_at if receipt.is_about_machine else min(self.received_at, receipt.received_at)

    def _requested(self, facts: Facts) -> dict[str, Any]:
        """The last request for a runner is the one with the highest number, however far the job is."""
        if (facts.runner_requests or 0) <= (self.runner_requests or 0):
            return {}
        return {name: getattr(facts, name) for name in REQUEST_FACTS}

    def _loses(self, receipt: Receipt) -> bool:
        """To a job that runs there. A machine that GitHub names for this job can be lost to another owner only."""
        if self.instance_id != receipt.releases:
            return False
        plan_at = receipt.facts.scheduled_at
        if plan_at is None:
            return not self.may_have_forgotten(receipt)
        return plan_at >= (self.scheduled_at or "") and not self.runs_on(self.instance_id)

    def _regains(self, receipt: Receipt) -> bool:
        """The newest plan that the job has lost, unless a newer one has replaced it."""
        return (
            self.instance_id is None
            and self.lost_plan_at is not None
            and self.lost_plan_at == receipt.facts.scheduled_at
        )

    def _status_after(self, receipt: Receipt) -> dict[str, Any]:
        """The status, and when it was last reported that the job is queued, and that it is waiting."""
        if receipt.releases:
            loses = self.status is Status.SCHEDULED and self._loses(receipt)
            return self._reported(Status.QUEUED, receipt.received_at) if loses else {}
        if receipt.returns:
            regains = self.status.rank < Status.SCHEDULED.rank and self._regains(receipt)
            return self._reported(Status.SCHEDULED, receipt.received_at) if regains else {}
        if receipt.is_plan and self.instance_id is None and not self._follows(receipt.facts):
            return {}
        if receipt.status is None or receipt.status.rank < self.status.rank or self.may_have_forgotten(receipt):
            return {}
        return self._reported(receipt.status, receipt.received_at)

    def _creation(self, receipt: Receipt) -> dict[str, Any]:
        """The earliest report, however late; without one, the first input of any kind."""
        reported = receipt.facts.created_at
        if self.created_at_is_guessed:
            guess = min(self.created_at, receipt.received_at)
            return {"created_at": reported or guess, "created_at_is_guessed": None if reported else True}
        return {"created_at": min(self.created_at, reported or NEVER)}

    def _reported(self, status: Status, at: str) -> dict[str, Any]:
        """Queued and waiting follow each other, so the newest report of each decides, whatever arrives first.

        At the same instant `waiting` is the later one: no approval takes less than a millisecond.
        """
        if status.rank > Status.QUEUED.rank:
            return {"status": status, "queued_reported_at": None, "waiting_reported_at": None}
        queued, waiting = self.queued_reported_at, self.waiting_reported_at
        if status is Status.QUEUED:
            queued = max(queued or "", at)
        else:
            waiting = max(waiting or "", at)
        return {
            "status": Status.WAITING if waiting and waiting >= (queued or "") else Status.QUEUED,
            "queued_reported_at": queued,
            "waiting_reported_at": waiting,
        }

    def _measured(self) -> dict[str, Any]:
        """What follows from the facts. What indexes project is written once, at completion: so it is paid once, too."""
        queued = max(0, times.ms_between(self.received_at, self.scheduled_at)) if self.scheduled_at else None
        measured = {"was_interrupted": self._interrupted(), "internal_queue_duration_in_ms": queued}
        if self.status is not Status.COMPLETED or self.completed_at is None:
            return measured
        if self.started_at is None or self.carried_over:
            return measured | {"usage_in_seconds": 0, "usage_in_dollars": dollars(0, self.price_per_hour)}
        used = max(0, times.ms_between(self.started_at, self.completed_at)) // times.MS_PER_SECOND
        return measured | {
            "usage_in_seconds": used,
            "usage_in_dollars": dollars(used, self.price_per_hour),
            "saved_in_dollars": self._saved(used),
            "overall_queue_duration_in_ms": max(0, times.ms_between(self.created_at, self.started_at)),
        }

    def _saved(self, seconds: int) -> Decimal | None:
        """Present for every finished job that ran on spot, so that an index over it tells spot from on-demand."""
        if self.instance_lifecycle != SPOT:
            return None
        return saved(seconds, paid=self.price_per_hour, regular=self.on_demand_price_per_hour)

    def _interrupted(self) -> bool | None:
        """A warning before the end, or a death under the running job; a runner that goes after its job is not one."""
        end = self.completed_at or NEVER
        warned = self.interrupted_at is not None and self.interrupted_at <= end
        died = self.terminated_at is not None and (self.started_at or NEVER) <= self.terminated_at < end
        return True if (warned or died) and not self._runs_elsewhere() else None

    def _runs_elsewhere(self) -> bool:
        """GitHub names a machine, and it is not the planned one. Until it is looked up, only the plan is known."""
        name = self.runner_name or ""
        named = self._is_named_by_github and (instance_id_in(name) or task_id_in(name))
        return bool(named) and not self.runs_on(self.instance_id)


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


REQUEST_FACTS = {"runner_requests", "runner_requested_at"}
PLANS = {EventType.RUNNER_SCHEDULED, EventType.RUNNER_RESCHEDULED}
MACHINE_MESSAGES = {
    *(EventType.RUNNER_ATTACHED, EventType.RUNNER_REBALANCE_RECOMMENDED, EventType.RUNNER_INTERRUPTED),
    *(EventType.RUNNER_TERMINATED, EventType.RUNNER_TAKEN),
}
HAPPENED = {"interrupted_at", "terminated_at"}
DESCRIPTION = {
    *("scheduled_at", "instance_id", "instance_type", "instance_lifecycle", "fleet_id", "pool_name"),
    *("price_per_hour", "on_demand_price_per_hour"),
}
MACHINE_FACTS = {*DESCRIPTION, *HAPPENED, "runner_name"}
