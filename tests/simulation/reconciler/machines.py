"""EC2 and its prices in memory, and an ECS without tasks: the methods that the domain calls."""
# ruff: noqa: N803, ARG002 -- parameters are named as botocore names them, and not all are used

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any

from botocore.exceptions import ClientError

from tests.simulation.clock import Clock
from tests.support.settings import SETTINGS

SHOWN_AFTER_END_SECONDS = 3600
# Each type has prices of its own, so that facts of two machines can't be mixed unnoticed.
ON_DEMAND_PRICES = {f"m7g.{size}xlarge": Decimal("0.1632") * size for size in range(2, 50)}
SPOT_PRICES = {name: (price * Decimal("0.37")).quantize(Decimal("0.0001")) for name, price in ON_DEMAND_PRICES.items()}
INVISIBLE_SECONDS = 20  # EC2 is eventually consistent: a new instance is not described at once


@dataclass(eq=False)
class Machine:
    id: str
    tags: dict[str, str]
    launched: float
    spot: bool = False
    instance_type: str | None = None
    zone: str | None = None
    state: str = "running"
    ended: float | None = None
    job_id: int | None = None
    """The job that runs on it now, on GitHub."""
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def alive(self) -> bool:
        return self.state in ("pending", "running")

    def end(self, at: float) -> None:
        if self.ended is None:
            self.state, self.ended = "terminated", at


class EC2:
    """`stopping` is called with each machine that is about to be terminated."""

    def __init__(self, clock: Clock, stopping: Callable[[Machine], None]) -> None:
        self._clock = clock
        self._stopping = stopping
        self.machines: dict[str, Machine] = {}

    def describe_instances(
        self, *, InstanceIds: Sequence[str] = (), Filters: Sequence[Mapping[str, Any]] = (), Limit: int = 1000
    ) -> dict[str, Any]:
        visible = {each.id: each for each in self.machines.values() if self._is_visible(each)}
        if unknown := [each for each in InstanceIds if each not in visible]:
            message = f"The instance IDs '{', '.join(unknown)}' do not exist"
            error: Any = {"Error": {"Code": "InvalidInstanceID.NotFound", "Message": message}}
            raise ClientError(error, "DescribeInstances")
        chosen = [visible[each] for each in InstanceIds] if InstanceIds else list(visible.values())
        found = [_described(each) for each in chosen if all(_matches(each, one) for one in Filters)]
        return {"Reservations": [{"OwnerId": SETTINGS["OWN_ACCOUNT"], "Instances": found}]}

    def terminate_instances(self, *, InstanceIds: Sequence[str]) -> dict[str, Any]:
        for each in InstanceIds:
            self._stopping(self.machines[each])
            self.machines[each].end(self._clock.now())
        return {}

    def describe_spot_price_history(
        self,
        *,
        InstanceTypes: Sequence[str],
        AvailabilityZone: str,
        ProductDescriptions: Sequence[str],
        StartTime: datetime,
        EndTime: datetime,
    ) -> dict[str, Any]:
        return {"SpotPriceHistory": [{"Timestamp": StartTime, "SpotPrice": str(SPOT_PRICES[InstanceTypes[0]])}]}

    def _is_visible(self, machine: Machine) -> bool:
        now = self._clock.now()
        if machine.ended is not None and machine.ended + SHOWN_AFTER_END_SECONDS < now:
            return False
        return machine.launched + INVISIBLE_SECONDS <= now


class Pricing:
    def get_products(self, *, ServiceCode: str, FormatVersion: str, Filters: Sequence[Mapping[str, Any]]) -> Any:
        wanted = {each["Field"]: each["Value"] for each in Filters}
        price = {"unit": "Hrs", "pricePerUnit": {"USD": str(ON_DEMAND_PRICES[wanted["instanceType"]])}}
        return {"PriceList": [json.dumps({"terms": {"OnDemand": {"one": {"priceDimensions": {"one": price}}}}})]}


class ECS:
    def list_tasks(self, *, cluster: str, desiredStatus: str) -> dict[str, Any]:
        return {"taskArns": []}

    def describe_tasks(self, *, cluster: str, tasks: Sequence[str], include: Sequence[str]) -> dict[str, Any]:
        return {"tasks": []}


def _described(machine: Machine) -> dict[str, Any]:
    return {
        "InstanceId": machine.id,
        "State": {"Name": machine.state},
        "LaunchTime": datetime.fromtimestamp(machine.launched, UTC),
        "Tags": [{"Key": name, "Value": value} for name, value in machine.tags.items()],
        **({"InstanceType": machine.instance_type} if machine.instance_type else {}),
        **({"Placement": {"AvailabilityZone": machine.zone}} if machine.zone else {}),
        **({"InstanceLifecycle": "spot"} if machine.spot else {}),
    }


def _matches(machine: Machine, wanted: Mapping[str, Any]) -> bool:
    name, values = wanted["Name"], wanted["Values"]
    if name == "instance-state-name":
        return machine.state in values
    tag = machine.tags.get(name.removeprefix("tag:"))
    return tag is not None and any(fnmatchcase(tag, value) for value in values)
