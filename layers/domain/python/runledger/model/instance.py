"""An EC2 instance or ECS task, as AWS describes it, and the events about it. Pure."""

from collections.abc import Callable, Mapping
from enum import StrEnum

from runledger.model.dataclass import dataclass
from runledger.model.inputs import Lifecycle
from runledger.model.places import Place


class RunnerKind(StrEnum):
    """The AWS service that runs a runner."""

    EC2 = "ec2"
    ECS = "ecs"


class AwsEvent(StrEnum):
    """Events of EC2 and ECS on the default bus, by detail-type."""

    WARNING = "EC2 Spot Instance Interruption Warning"
    REBALANCE = "EC2 Instance Rebalance Recommendation"
    INSTANCE_STATE = "EC2 Instance State-change Notification"
    TASK_STATE = "ECS Task State Change"


SPOT_INTERRUPTION = "SpotInterruption"  # the stop code of a spot task


class Condition(StrEnum):
    ALIVE = "alive"
    STOPPED = "stopped"  # may be started again
    GONE = "gone"  # terminated or about to be


# A stopped task never starts again; a stopped instance may.
CONDITIONS: Mapping[RunnerKind, Mapping[str, Condition]] = {
    RunnerKind.EC2: {
        "pending": Condition.ALIVE,
        "running": Condition.ALIVE,
        "stopping": Condition.STOPPED,
        "stopped": Condition.STOPPED,
        "shutting-down": Condition.GONE,
        "terminated": Condition.GONE,
    },
    RunnerKind.ECS: {
        "provisioning": Condition.ALIVE,
        "pending": Condition.ALIVE,
        "activating": Condition.ALIVE,
        "running": Condition.ALIVE,
        "deactivating": Condition.GONE,
        "stopping": Condition.GONE,
        "deprovisioning": Condition.GONE,
        "stopped": Condition.GONE,
        "deleted": Condition.GONE,
    },
}


def instance_states(*conditions: Condition) -> tuple[str, ...]:
    """EC2's names of the states in these conditions."""
    return tuple(state for state, condition in CONDITIONS[RunnerKind.EC2].items() if condition in conditions)


# States of an instance that is stopping or has stopped, temporarily or permanently.
ENDING = frozenset(instance_states(Condition.STOPPED, Condition.GONE))


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
    def condition(self) -> Condition:
        """A state that AWS adds later counts as stopped: we neither terminate the machine nor record it as gone."""
        return CONDITIONS[self.kind].get(self.state, Condition.STOPPED)

    @property
    def is_gone(self) -> bool:
        return self.condition is Condition.GONE


FindMachine = Callable[[str, RunnerKind], Instance | None]
