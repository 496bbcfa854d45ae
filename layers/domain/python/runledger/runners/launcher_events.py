"""Events that launchers publish: a machine was started for a job, attached or terminated."""

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from runledger.model import payload, times
from runledger.model.dataclass import dataclass
from runledger.model.errors import Malformed, NotYours
from runledger.model.inputs import EventType, Facts, Lifecycle, Receipt, Source, Status
from runledger.model.instance import FindMachine, RunnerKind
from runledger.model.ownership import Proof, account_of, named_owner, owns
from runledger.model.payload import Json
from runledger.model.places import Place, region_of
from runledger.model.prices import FindPrice, Price, PriceQuery
from runledger.model.reports import NO_INSTALLATION
from runledger.model.runner_names import INSTANCE, TASK_ARN
from runledger.runners.publishers import Publisher, Publishers
from runledger.runners.tracker import RunnerTracker

VERSION = 1
RUNNER_IDS = {
    RunnerKind.EC2: re.compile(INSTANCE),
    RunnerKind.ECS: re.compile(rf"{TASK_ARN}\S+"),
}
# The largest accepted error of a launcher's clock: times decide which of two reports is newer.
MAX_CLOCK_ERROR_MS = 24 * times.MS_PER_HOUR
MAX_PRICE_PER_HOUR = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class LauncherEvents:
    """`github_account` returns the account of an installation, or None before its first webhook."""

    tracker: RunnerTracker
    publishers: Publishers
    find_machine: FindMachine
    find_price: FindPrice
    github_account: Callable[[int], str | None]

    def record(self, event: Json, *, sent_at: str | None = None) -> None:
        """Records one EventBridge event. `sent_at` is when EventBridge put it on the queue.

        Raises Malformed if its detail does not match docs/scheduling-event.v1.schema.json. Raises NotYours if the
        publisher may not report about that installation, or if the machine is proven to belong to another one.
        """
        detail_type = payload.required_text(event, "detail-type")
        detail = payload.section(event, "detail")
        if detail.get("version") != VERSION or detail["version"] is True:
            raise Malformed("detail.version", f"must be {VERSION}")
        installation_id = payload.identifier(detail, "detail.installation_id")
        publisher = self._publisher(event, installation_id)
        machine = _machine(detail)
        if publisher.installations is not None:
            self._ensure_not_tagged_for_another(machine, installation_id, detail)
        reported_at = _reported_at(event, sent_at)
        at = _instant(detail, "at", reported_at) or reported_at
        match detail_type:
            case EventType.RUNNER_SCHEDULED | EventType.RUNNER_RESCHEDULED:
                plan = _plan(detail, machine, scheduled_at=_instant(detail, "scheduled_at", reported_at) or at)
                receipt = Receipt(
                    installation_id=installation_id,
                    job_id=payload.identifier(detail, "detail.job_id"),
                    delivery_id=payload.text(detail, "event_id") or payload.required_text(event, "id"),
                    received_at=reported_at,
                    event_type=EventType(detail_type),
                    source=Source.INTERNAL,
                    status=Status.SCHEDULED,
                    facts=self._with_price(plan, availability_zone=payload.text(detail, "availability_zone")),
                )
                proof = Proof.EVENT if publisher.installations is None else Proof.SCOPED_EVENT
                self.tracker.launch(receipt, kind=machine.kind, proof=proof, place=_place(event, detail))
            case EventType.RUNNER_ATTACHED:
                self.tracker.record_reported_start(machine.runner_id, installation_id=installation_id, at=at)
            case EventType.RUNNER_TERMINATED:
                self.tracker.record_reported_end(
                    machine.runner_id,
                    self.find_machine(machine.runner_id, machine.kind),
                    installation_id=installation_id,
                    at=at,
                    reason=payload.text(detail, "reason"),
                )
            case _:
                raise Malformed("detail-type", f"is {detail_type}, which isn't a runner event")

    def _with_price(self, plan: Facts, *, availability_zone: str | None) -> Facts:
        """Prices that the launcher doesn't report are looked up."""
        assert plan.scheduled_at is not None
        price = self.find_price(
            PriceQuery(
                instance_type=plan.instance_type,
                instance_lifecycle=plan.instance_lifecycle,
                availability_zone=availability_zone,
                at=plan.scheduled_at,
                reported=Price(per_hour=plan.price_per_hour, on_demand_per_hour=plan.on_demand_price_per_hour),
            )
        )
        return replace(plan, price_per_hour=price.per_hour, on_demand_price_per_hour=price.on_demand_per_hour)

    def _ensure_not_tagged_for_another(self, machine: "_Machine", installation_id: int, detail: Json) -> None:
        """A limited publisher can name any machine and repository: only the installation's id was checked so far."""
        found = self.find_machine(machine.runner_id, machine.kind)
        owner = named_owner(found.tags) if found else None
        if owner is None:
            return
        if installation_id == NO_INSTALLATION:
            is_own = owns(owner, _repository(detail))
        else:
            is_own = (self.github_account(installation_id) or "").lower() == account_of(owner)
        if not is_own:
            raise NotYours(
                f"the owner tag of runner {machine.runner_id} names another owner than installation {installation_id}"
            )

    def _publisher(self, event: Json, installation_id: int) -> Publisher:
        account, source = str(event.get("account", "")), str(event.get("source", ""))
        found = self.publishers.allowing(account=account, source=source, installation_id=installation_id)
        if found is None:
            raise NotYours(
                f"source {source!r} in account {account} may not report about installation {installation_id}: "
                "see the setting event_publishers"
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Machine:
    kind: RunnerKind
    runner_id: str


def _machine(detail: Json) -> _Machine:
    kind = _one_of(detail, "kind", tuple(RunnerKind))
    if kind is None:
        raise Malformed("detail.kind", "is missing")
    runner_id = payload.required_text(detail, "detail.runner_id")
    if not RUNNER_IDS[RunnerKind(kind)].fullmatch(runner_id):
        raise Malformed("detail.runner_id", f"is not the id of an {kind} runner: an instance id or a task's ARN")
    return _Machine(kind=RunnerKind(kind), runner_id=runner_id)


def _plan(detail: Json, machine: _Machine, *, scheduled_at: str) -> Facts:
    return Facts(
        run_id=payload.positive_int(detail, "run_id"),
        run_attempt=payload.positive_int(detail, "run_attempt"),
        repo_full_name=_repository(detail),
        runner_name=payload.text(detail, "runner_name"),
        scheduled_at=scheduled_at,
        instance_id=machine.runner_id,
        instance_type=payload.text(detail, "instance_type"),
        instance_lifecycle=_one_of(detail, "instance_lifecycle", tuple(Lifecycle)),
        fleet_id=payload.text(detail, "fleet_id"),
        pool_name=payload.text(detail, "pool_name"),
        price_per_hour=_dollars(detail, "price_per_hour"),
        on_demand_price_per_hour=_dollars(detail, "on_demand_price_per_hour"),
    )


def _place(event: Json, detail: Json) -> Place:
    """The likely place of the machine, until EC2 or ECS confirms it."""
    zone = payload.text(detail, "availability_zone")
    return Place(account_id=payload.text(event, "account"), region=region_of(zone))


def _repository(detail: Json) -> str | None:
    return None if detail.get("repo_full_name") is None else payload.repository_name(detail, "detail.repo_full_name")


def _reported_at(event: Json, sent_at: str | None) -> str:
    """The publisher chooses the event's own time. It can't be later than `sent_at`."""
    time = payload.required_instant(event, "time")
    return min(time, sent_at or time)


def _instant(detail: Json, name: str, reported_at: str) -> str | None:
    """At most the time of the event: a launcher can't report the future."""
    if detail.get(name) is None:
        return None
    instant = payload.required_instant(detail, f"detail.{name}")
    if abs(times.ms_between(reported_at, instant)) > MAX_CLOCK_ERROR_MS:
        raise Malformed(f"detail.{name}", "must be within 24 hours of the event's own time")
    return min(instant, reported_at)


def _one_of(detail: Json, name: str, choices: tuple[str, ...]) -> str | None:
    found = detail.get(name)
    if found is not None and found not in choices:
        raise Malformed(f"detail.{name}", f"must be one of {', '.join(choices)}")
    return found


def _dollars(detail: Json, name: str) -> Decimal | None:
    found = detail.get(name)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found <= MAX_PRICE_PER_HOUR:
        raise Malformed(f"detail.{name}", f"must be a price in dollars above 0 and at most {MAX_PRICE_PER_HOUR}")
    return Decimal(str(found))
