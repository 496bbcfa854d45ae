"""Events that launchers publish: a machine was started for a job, attached or terminated."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from runledger.model import payload, times
from runledger.model.errors import Malformed, NotYours
from runledger.model.inputs import EventType, Facts, Lifecycle, Receipt, Source, Status
from runledger.model.instance import RunnerKind
from runledger.model.ownership import Proof, account_of, named_owner, owns
from runledger.model.payload import Json
from runledger.model.places import Place, region_of
from runledger.model.prices import FindPrice, Price, PriceQuery
from runledger.model.reports import NO_INSTALLATION
from runledger.model.runner_names import INSTANCE, TASK_ARN
from runledger.runners.lookups import FindMachine
from runledger.runners.publishers import Publisher, Publishers
from runledger.runners.tracker import RunnerTracker

VERSION = 1
RUNNER_IDS = {
    RunnerKind.EC2: re.compile(INSTANCE),
    RunnerKind.ECS: re.compile(rf"{TASK_ARN}\S+"),
}
# The largest error of a launcher's clock that is accepted: times decide which of two reports is newer.
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
        """Records one event of EventBridge. `sent_at` is when EventBridge put it on the queue.

        Raises Malformed if its detail does not match docs/scheduling-event.v1.schema.json. Raises NotYours if the
        publisher may not report about that installation, or if the machine is proven to belong to another one.
        """
        detail_type = payload.required_text(event, "detail-type")
        detail = payload.section(event, "detail")
        if detail.get("version") != VERSION or detail["version"] is True:
            raise Malformed("detail.version", f"must be {VERSION}")
        installation_id = payload.identifier(detail, "detail.installation_id")
        publisher = self._publisher(event, installation_id)
        kind, runner_id = _kind(detail), _runner_id(detail)
        if publisher.installations is not None:
            self._ensure_not_tagged_for_another(runner_id, kind, detail)
        event = _dated(event, sent_at)
        at = _instant(event, detail, "at") or payload.required_instant(event, "time")
        match detail_type:
            case EventType.RUNNER_SCHEDULED | EventType.RUNNER_RESCHEDULED:
                receipt = _scheduled(event, detail, EventType(detail_type), at=at, find_price=self.find_price)
                proof = Proof.EVENT if publisher.installations is None else Proof.SCOPED_EVENT
                self.tracker.launch(receipt, kind=kind, proof=proof, place=_place(event, detail))
            case EventType.RUNNER_ATTACHED:
                self.tracker.reported_attached(runner_id, installation_id=installation_id, at=at)
            case EventType.RUNNER_TERMINATED:
                self.tracker.reported_terminated(
                    runner_id,
                    self.find_machine(runner_id, kind),
                    installation_id=installation_id,
                    at=at,
                    reason=payload.text(detail, "reason"),
                )
            case _:
                raise Malformed("detail-type", f"is {detail_type}, which is not an event of a runner")

    def _ensure_not_tagged_for_another(self, runner_id: str, kind: RunnerKind, detail: Json) -> None:
        """A limited publisher can name any machine and repository: so far only the installation's id is checked."""
        machine = self.find_machine(runner_id, kind)
        owner = named_owner(machine.tags) if machine else None
        if owner is None:
            return
        installation_id = payload.identifier(detail, "detail.installation_id")
        if installation_id == NO_INSTALLATION:
            is_own = owns(owner, _repository(detail))
        else:
            is_own = (self.github_account(installation_id) or "").lower() == account_of(owner)
        if not is_own:
            raise NotYours(f"a tag of runner {runner_id} names an owner other than installation {installation_id}")

    def _publisher(self, event: Json, installation_id: int) -> Publisher:
        account, source = str(event.get("account", "")), str(event.get("source", ""))
        found = self.publishers.allowing(account=account, source=source, installation_id=installation_id)
        if found is None:
            raise NotYours(
                f"source {source!r} of account {account} may not report about installation {installation_id}: "
                "see the setting event_publishers"
            )
        return found


def _scheduled(event: Json, detail: Json, event_type: EventType, *, at: str, find_price: FindPrice) -> Receipt:
    scheduled_at = _instant(event, detail, "scheduled_at") or at
    query = PriceQuery(
        instance_type=payload.text(detail, "instance_type"),
        instance_lifecycle=_one_of(detail, "instance_lifecycle", tuple(Lifecycle)),
        availability_zone=payload.text(detail, "availability_zone"),
        at=scheduled_at,
        reported=Price(
            per_hour=_dollars(detail, "price_per_hour"),
            on_demand_per_hour=_dollars(detail, "on_demand_price_per_hour"),
        ),
    )
    price = find_price(query)
    return Receipt(
        installation_id=payload.identifier(detail, "detail.installation_id"),
        job_id=payload.identifier(detail, "detail.job_id"),
        delivery_id=payload.text(detail, "event_id") or payload.required_text(event, "id"),
        received_at=payload.required_instant(event, "time"),
        event_type=event_type,
        source=Source.INTERNAL,
        status=Status.SCHEDULED,
        facts=Facts(
            run_id=payload.whole(detail, "run_id"),
            run_attempt=payload.whole(detail, "run_attempt"),
            repo_full_name=_repository(detail),
            runner_name=payload.text(detail, "runner_name"),
            scheduled_at=scheduled_at,
            instance_id=_runner_id(detail),
            instance_type=query.instance_type,
            instance_lifecycle=query.instance_lifecycle,
            fleet_id=payload.text(detail, "fleet_id"),
            pool_name=payload.text(detail, "pool_name"),
            price_per_hour=price.per_hour,
            on_demand_price_per_hour=price.on_demand_per_hour,
        ),
    )


def _place(event: Json, detail: Json) -> Place:
    """The likely place of the machine, until EC2 or ECS confirms it."""
    zone = payload.text(detail, "availability_zone")
    return Place(account_id=payload.text(event, "account"), region=region_of(zone))


def _repository(detail: Json) -> str | None:
    return None if detail.get("repo_full_name") is None else payload.repository_name(detail, "detail.repo_full_name")


def _kind(detail: Json) -> RunnerKind:
    kind = _one_of(detail, "kind", tuple(RunnerKind))
    if kind is None:
        raise Malformed("detail.kind", "is missing")
    return RunnerKind(kind)


def _runner_id(detail: Json) -> str:
    runner_id = payload.required_text(detail, "detail.runner_id")
    if not RUNNER_IDS[_kind(detail)].fullmatch(runner_id):
        raise Malformed(
            "detail.runner_id", f"is not the id of an {_kind(detail)} runner: an instance id or a task's ARN"
        )
    return runner_id


def _dated(event: Json, sent_at: str | None) -> Json:
    """The publisher also chooses the envelope's time. It can't be later than `sent_at`."""
    time = payload.required_instant(event, "time")
    return {**event, "time": min(time, sent_at or time)}


def _instant(event: Json, detail: Json, name: str) -> str | None:
    """At most the time of the event: a launcher reports nothing in advance."""
    if detail.get(name) is None:
        return None
    instant, reported_at = payload.required_instant(detail, f"detail.{name}"), payload.required_instant(event, "time")
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
