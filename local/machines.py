"""The machines that are still there when the demo ends: on the emulated EC2, and as runners on GitHub."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from local import aws
from local.deployment import RUNNER_TAGS
from local.github.records import Runner as Registered
from local.payloads.subjects import Runner
from local.tale import PLATFORM, STOREFRONT
from local.trouble_lives import BY_HAND_POOL

if TYPE_CHECKING:
    from local.outputs import Outputs

BY_HAND_TYPE = "c7g.4xlarge"
LAUNCHED_TYPE = "c7i.large"
LAUNCHED_POOL = "x64-spot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """Ids of instances, which EC2 chooses: so the stories are told when these have been started."""

    at_work: str
    warned: str  # at work, too, but spot wants it back
    by_hand: str
    outlived: str  # its job is done, and nobody stopped it
    unclaimed: str  # a runner that no job ever came to
    busy: str  # its job is done for all we know; GitHub knows that it works
    foreign: str  # no runner at all

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
        unclaimed=runner(**{"ghr:Owner": STOREFRONT.owner}),  # nothing else tells whose it is
        busy=runner(),
        foreign=instance("m7g.large", Name="database"),
    )


def registrations(machines: Machines) -> list[Registered]:
    """As GitHub lists them."""
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
