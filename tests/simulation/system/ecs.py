"""ECS in memory, with tasks on Fargate."""
# ruff: noqa: N803, ARG002 -- parameters are named as botocore names them, and not all are used

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from tests.simulation.clock import Clock
from tests.simulation.reconciler.machines import SHOWN_AFTER_END_SECONDS, Machine

CLUSTER = "runners"
ARN = "arn:aws:ecs:us-east-1:123456789012:task/runners/"


class Tasks:
    def __init__(self, clock: Clock, stopping: Callable[[Machine], None]) -> None:
        self._clock = clock
        self._stopping = stopping
        self.machines: dict[str, Machine] = {}

    def list_tasks(self, *, cluster: str, desiredStatus: str) -> dict[str, Any]:
        alive = [each.id for each in self.machines.values() if each.alive]
        return {"taskArns": alive if cluster == CLUSTER else []}

    def describe_tasks(self, *, cluster: str, tasks: Sequence[str], include: Sequence[str]) -> dict[str, Any]:
        found = [self.machines[ARN + each] for each in tasks if cluster == CLUSTER and ARN + each in self.machines]
        return {"tasks": [_described(each) for each in found if self._is_visible(each)]}

    def stop_task(self, *, cluster: str, task: str, reason: str) -> dict[str, Any]:
        self._stopping(self.machines[task])
        self.machines[task].end(self._clock.now())
        return {}

    def _is_visible(self, machine: Machine) -> bool:
        return machine.ended is None or machine.ended + SHOWN_AFTER_END_SECONDS >= self._clock.now()


def _described(machine: Machine) -> dict[str, Any]:
    return {
        "taskArn": machine.id,
        "lastStatus": "RUNNING" if machine.alive else "STOPPED",
        "createdAt": datetime.fromtimestamp(machine.launched, UTC),
        "tags": [{"key": name, "value": value} for name, value in machine.tags.items()],
        **({"capacityProviderName": "FARGATE_SPOT"} if machine.spot else {"launchType": "FARGATE"}),
    }
