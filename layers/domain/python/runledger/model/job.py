"""A job, and how each input changes it. Pure: no clock, no network, only the standard library."""

import copy
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.inputs import Conclusion, Facts, Lifecycle, Receipt, Status
from runledger.model.job_machine import (
    MACHINE_FIELDS,
    follows,
    loses,
    machine_after,
    regains,
    runs_elsewhere,
)
from runledger.model.keys import RunKey
from runledger.model.money import dollars, saved
from runledger.model.runner_names import contains_id_of
from runledger.model.times import NEVER

INPUTS_KEPT = 50
FAILURES = frozenset({Conclusion.FAILURE, Conclusion.TIMED_OUT, Conclusion.STARTUP_FAILURE})
RERUN_CONCLUSIONS = FAILURES | {Conclusion.CANCELLED}  # jobs that GitHub's "Re-run failed jobs" runs again
RUNNER_REQUEST_FIELDS = {"runner_requests", "runner_requested_at"}
REVIEW_TIMES = ("approval_requested_at", "approved_at", "rejected_at")
# Facts that aren't merged as others are: see `job_machine`, `_runner_requests_after` and `_reviews_after`.
OWN_RULES = {*MACHINE_FIELDS, *RUNNER_REQUEST_FIELDS, *REVIEW_TIMES}


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
    # The newest report of each, kept while the job has one of these statuses.
    queued_reported_at: str | None = None
    waiting_reported_at: str | None = None
    created_at_is_guessed: bool | None = None  # `created_at` is the time of the first input until GitHub reports it
    completed_at_is_guessed: bool | None = None  # no time was reported, or GitHub no longer has the job
    lost_plan_at: str | None = None  # the newest plan whose machine took another job
    was_interrupted: bool | None = None
    usage_in_seconds: int | None = None
    usage_in_dollars: Decimal | None = None
    saved_in_dollars: Decimal | None = None
    overall_queue_duration_in_ms: int | None = None
    internal_queue_duration_in_ms: int | None = None

    @classmethod
    def opened_by(cls, receipt: Receipt) -> "Job":
        """A new job, before it absorbs its first input."""
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
            self._merged_facts(receipt)
            | self._status_after(receipt)
            | {
                **self._creation_after(receipt),
                **self._completion_after(receipt),
                "received_at": self._received_at_after(receipt),
                "last_updated_at": max(self.last_updated_at, receipt.received_at),
                "version": self.version + 1,
            }
            | self._tokens_after(receipt)
        )
        return job._with(job._derived())

    def queued_again(self, at: str) -> "Job":
        """The queued job after another `queued` report at `at`."""
        return self._with({"queued_reported_at": at, "version": self.version + 1})

    def is_changed_by(self, receipt: Receipt) -> bool:
        """Whether a message about a machine is news: it is about the job's machine and changes the job."""
        if receipt.is_machine_state:
            return any(getattr(self, name) != value for name, value in machine_after(self, receipt).items())
        return self.instance_id is not None and receipt.facts.instance_id == self.instance_id

    def may_be_repeated(self, receipt: Receipt) -> bool:
        """Whether an internal input may have been absorbed before, and its token dropped since.

        A repeated internal input has the time of the first. So it is older than the job's last change.
        """
        tokens_were_dropped = receipt.body_digest is None and len(self.inputs) >= INPUTS_KEPT
        return tokens_were_dropped and receipt.received_at < self.last_updated_at

    @property
    def carried_over(self) -> bool:
        return is_carried_over(self.created_at, self.completed_at)

    @property
    def run_key(self) -> RunKey | None:
        """None if it isn't known: a launcher may name the run without its attempt."""
        if self.run_id is None or self.run_attempt is None:
            return None
        return RunKey(self.installation_id, self.run_id, self.run_attempt)

    @property
    def run_is_known(self) -> bool:
        return self.run_id is not None and self.run_attempt is not None

    @property
    def failed(self) -> bool:
        return self.conclusion in FAILURES

    @property
    def queue_time_in_ms(self) -> int | None:
        """From creation to start, without the wait for an approval. None if it hasn't started, or was carried over."""
        return None if self.carried_over or not self.started_at else self._queued_ms(self.created_at, self.started_at)

    @property
    def machine_was_restarted(self) -> bool:
        """GitHub names the job's machine, and the machine ended before the job started: so it was started again."""
        return (self.terminated_at or NEVER) < (self.started_at or "") and self.runs_on(self.instance_id)

    def runs_on(self, instance_id: str | None) -> bool:
        """GitHub names a runner, and the name contains the machine's id."""
        return self.runner_named_by_github and contains_id_of(self.runner_name or "", instance_id)

    @property
    def runner_named_by_github(self) -> bool:
        """Until the job starts, `runner_name` is the name in the launcher's plan."""
        return self.started_at is not None and self.runner_name is not None

    def _with(self, values: Mapping[str, Any]) -> "Job":
        """A copy with other values. `dataclasses.replace` takes seven times as long for about fifty fields."""
        job = copy.copy(self)
        vars(job).update(values)
        return job

    def _tokens_after(self, receipt: Receipt) -> dict[str, Any]:
        if receipt.body_digest:
            return {"webhooks": (*self.webhooks, receipt.token)}
        return {"inputs": (*self.inputs, receipt.token)[-INPUTS_KEPT:]}

    def _merged_facts(self, receipt: Receipt) -> dict[str, Any]:
        """An input with the job's status or a later one corrects known facts. Any other input only adds missing ones.

        The runner's name is the plan's until GitHub reports one.
        """
        facts = receipt.facts
        leads = self._is_reached_by(receipt)
        merged = {
            name: value
            for name, value in vars(facts).items()
            if value is not None and name not in OWN_RULES and (leads or getattr(self, name) is None)
        }
        if facts.runner_name and not receipt.is_plan and (leads or not self.runner_named_by_github):
            merged["runner_name"] = facts.runner_name
        return merged | machine_after(self, receipt) | self._runner_requests_after(facts) | self._reviews_after(receipt)

    def _reviews_after(self, receipt: Receipt) -> dict[str, Any]:
        """Keeps the earliest time of each, whatever the order of arrival.

        A waiting job awaits an approval. Until the time of the request is reported, the job's creation time is used.
        """
        reported = {name: at for name in REVIEW_TIMES if (at := getattr(receipt.facts, name))}
        known = {name: getattr(self, name) for name in reported}
        if known.get("approval_requested_at") == self.created_at:
            known["approval_requested_at"] = None
        times_after = {name: at for name, at in reported.items() if at < (known[name] or NEVER)}
        if receipt.status is Status.WAITING and self.approval_requested_at is None:
            times_after["approval_requested_at"] = receipt.facts.created_at or self.created_at
        return times_after

    def _runner_requests_after(self, facts: Facts) -> dict[str, Any]:
        """The highest number is the last request for a runner, whatever the job's status."""
        if (facts.runner_requests or 0) <= (self.runner_requests or 0):
            return {}
        return {name: getattr(facts, name) for name in RUNNER_REQUEST_FIELDS}

    def _is_reached_by(self, receipt: Receipt) -> bool:
        """The input is new, and its status is the job's or a later one."""
        if receipt.status is None or receipt.status.rank < self.status.rank:
            return False
        return not self.may_be_repeated(receipt)

    def _received_at_after(self, receipt: Receipt) -> str:
        """The time of the first input. Messages about machines don't count: a machine may be older than the job."""
        return self.received_at if receipt.is_about_machine else min(self.received_at, receipt.received_at)

    def _creation_after(self, receipt: Receipt) -> dict[str, Any]:
        """The earliest reported time, even from a late input. If no time is reported, the time of the first input."""
        reported = receipt.facts.created_at
        if self.created_at_is_guessed:
            guess = min(self.created_at, receipt.received_at)
            return {"created_at": reported or guess, "created_at_is_guessed": None if reported else True}
        return {"created_at": min(self.created_at, reported or NEVER)}

    def _completion_after(self, receipt: Receipt) -> dict[str, Any]:
        """If no time is reported, uses the time of the first report: statistics count the job in one hour."""
        if receipt.status is not Status.COMPLETED or not self._is_reached_by(receipt):
            return {}
        if receipt.facts.completed_at:
            return {"completed_at_is_guessed": receipt.is_guess or None}
        if self.completed_at and not self.completed_at_is_guessed:
            return {}
        return {"completed_at": min(self.completed_at or NEVER, receipt.received_at), "completed_at_is_guessed": True}

    def _status_after(self, receipt: Receipt) -> dict[str, Any]:
        """The status, and the times of the newest `queued` and `waiting` reports."""
        if receipt.releases:
            is_lost = self.status is Status.SCHEDULED and loses(self, receipt)
            return self._status_reported(Status.QUEUED, receipt.received_at) if is_lost else {}
        if receipt.returns:
            is_regained = self.status.rank < Status.SCHEDULED.rank and regains(self, receipt)
            return self._status_reported(Status.SCHEDULED, receipt.received_at) if is_regained else {}
        if receipt.is_plan and self.instance_id is None and not follows(self, receipt.facts):
            return {}
        if receipt.status is None or not self._is_reached_by(receipt):
            return {}
        return self._status_reported(receipt.status, receipt.received_at)

    def _status_reported(self, status: Status, at: str) -> dict[str, Any]:
        """A job can alternate between queued and waiting, so the newer report decides, whatever the order of arrival.

        If both have the same time, `waiting` is the newer: no approval takes less than a millisecond.
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

    def _derived(self) -> dict[str, Any]:
        """Derived values. Those that an index projects are set only at completion, so each is written once per job."""
        derived = {
            "was_interrupted": self._was_interrupted(),
            "internal_queue_duration_in_ms": self._queued_ms(self.received_at, self.scheduled_at),
        }
        if self.status is not Status.COMPLETED or self.completed_at is None:
            return derived
        if self.started_at is None or self.carried_over:
            return derived | {"usage_in_seconds": 0, "usage_in_dollars": Decimal(0)}
        used = self._used_seconds(self.started_at, self.completed_at)
        return derived | {
            "usage_in_seconds": used,
            "usage_in_dollars": None if runs_elsewhere(self) else dollars(used, self.price_per_hour),
            "saved_in_dollars": self._saved(used),
            "overall_queue_duration_in_ms": self.queue_time_in_ms,
        }

    def _queued_ms(self, since: str, until: str | None) -> int | None:
        """Excludes the wait for an approval. None if the end of that wait is unknown."""
        if until is None:
            return None
        queued = max(0, times.ms_between(since, until))
        if self.approved_at is None:
            return queued if self.approval_requested_at is None else None
        begin, end = max(since, self.approval_requested_at or self.created_at), min(until, self.approved_at)
        return max(0, queued - max(0, times.ms_between(begin, end)))

    def _used_seconds(self, started_at: str, completed_at: str) -> int:
        """If the machine ended before the job, counts until the machine's end, which GitHub notices minutes later."""
        died = self.terminated_at is not None and started_at <= self.terminated_at and not runs_elsewhere(self)
        end = min(completed_at, self.terminated_at or NEVER) if died else completed_at
        return max(0, times.ms_between(started_at, end)) // times.MS_PER_SECOND

    def _saved(self, seconds: int) -> Decimal | None:
        if self.instance_lifecycle != Lifecycle.SPOT or runs_elsewhere(self):
            return None
        return saved(seconds, paid=self.price_per_hour, regular=self.on_demand_price_per_hour)

    def _was_interrupted(self) -> bool | None:
        """The machine was warned before the job's end, or ended while the job ran. A later end is normal."""
        end = self.completed_at or NEVER
        warned = self.interrupted_at is not None and self.interrupted_at <= end
        died = self.terminated_at is not None and (self.started_at or NEVER) <= self.terminated_at < end
        return True if (warned or died) and not runs_elsewhere(self) else None


def is_carried_over(created_at: str, completed_at: str | None) -> bool:
    """A copy that a partial re-run makes of an earlier attempt's job. It has the facts of the original."""
    return completed_at is not None and completed_at < created_at
