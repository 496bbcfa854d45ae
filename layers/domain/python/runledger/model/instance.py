"""An EC2 instance or ECS task, as AWS describes it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from runledger.model.places import Place
from runledger.model.reports import RunnerKind

GONE = {
    RunnerKind.EC2: {"shutting-down", "terminated"},
    RunnerKind.ECS: {"deactivating", "stopping", "deprovisioning", "stopped", "deleted"},
}


class Lifecycle(StrEnum):
    ON_DEMAND = "on-demand"
    SPOT = "spot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """An EC2 instance or an ECS task, as AWS describes it; `state` is AWS's value in lower case."""

    runner_id: str
    kind: RunnerKind
    state: str
    instance_type: str | None = None
    lifecycle: Lifecycle | None = None
    fleet_id: str | None = None
    pool_name: str | None = None
    availability_zone: str | None = None
    launched_at: str | None = None
    account_id: str | None = None
    region: str | None = None
    tags: Mapping[str, str]

    @property
    def place(self) -> Place:
        return Place(account_id=self.account_id, region=self.region)

    @property
    def is_gone(self) -> bool:
        """Terminated or about to be. A stopped instance may be started again."""
        return self.state in GONE[self.kind]
