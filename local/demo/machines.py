"""The machines that still exist at the end of the demo: instances in the emulated EC2, and runners on GitHub."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from local.aws import clients as aws
from local.aws.deployment import RUNNER_TAGS
from local.demo.generator import PLATFORM, STOREFRONT
from local.demo.payloads.entities import Runner
from local.demo.scenarios.runner_incidents import BY_HAND_POOL
from local.github.records import Runner as Registered

if TYPE_CHECKING:
    from local.aws.outputs import Outputs

BY_HAND_TYPE = "c7g.4xlarge"
LAUNCHED_TYPE = "c7i.large"
LAUNCHED_POOL = "x64-spot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """Instance ids. EC2 assigns them, so the instances are started before the scenarios are generated."""

    at_work: str
    warned: str  # runs a job, and has a spot interruption warning
    by_hand: str
    outlived: str  # its job has finished, but it wasn't stopped
    unclaimed: str  # a runner that never had a job
    busy: str  # its job has finished in the ledger, but it is busy on GitHub
    foreign: str  # not a runner

    @property
    def orphans(self) -> tuple[str, ...]:
        return (self.outlived, self.unclaimed)

    @property
    def survivors(self) -> tuple[str, ...]:
        return (self.at_work, self.warned, self.by_hand, self.busy, self.foreign)


def start(outputs: Outputs) -> Machines:
    def instance(instance_type: str, **tags: str) -> str:
        return aws.start_instance(outputs, instance_type=instance_type, tags=tags)

    def runner(**tags: str) -> str:
        return instance(LAUNCHED_TYPE, pool=LAUNCHED_POOL, **RUNNER_TAGS, **tags)

    return Machines(
        at_work=runner(),
        warned=runner(),
        by_hand=instance(BY_HAND_TYPE, pool=BY_HAND_POOL, **RUNNER_TAGS),
        outlived=runner(),
        unclaimed=runner(**{"ghr:Owner": STOREFRONT.owner}),  # the only proof of its owner
        busy=runner(),
        foreign=instance("m7g.large", Name="database"),
    )


def registrations(machines: Machines) -> list[Registered]:
    """The runners as registered on GitHub."""
    return [
        _registered(machines.at_work, STOREFRONT.owner, busy=True),
        _registered(machines.warned, PLATFORM.owner, busy=True),
        _registered(machines.by_hand, PLATFORM.owner, busy=True, prefix=BY_HAND_POOL),
        _registered(machines.outlived, STOREFRONT.owner, busy=False),
        _registered(machines.unclaimed, STOREFRONT.owner, busy=False),
        _registered(machines.busy, STOREFRONT.owner, busy=True),
    ]


def _registered(machine: str, scope: str, *, busy: bool, prefix: str = "runner") -> Registered:
    runner = Runner.on(machine, prefix=prefix)
    return Registered(id=runner.id, name=runner.name, scope=scope, busy=busy)
