"""What happens to machines on EC2 and ECS in a world of the whole system, and what each part of its plan needs."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from local.github.records import Job
from tests.simulation.reconciler.lives import RUNNER_TAG, Lives
from tests.simulation.reconciler.machines import ON_DEMAND_PRICES, SPOT_PRICES, Machine
from tests.simulation.reconciler.troubles import MINUTE
from tests.simulation.system.ecs import ARN
from tests.simulation.system.plan import Plan
from tests.simulation.system.world import SystemWorld
from tests.support.settings import SETTINGS

SIZES = sorted(ON_DEMAND_PRICES)
PLACE = {"account": SETTINGS["OWN_ACCOUNT"], "region": SETTINGS["AWS_REGION"]}
WARNING, REBALANCE = "EC2 Spot Instance Interruption Warning", "EC2 Instance Rebalance Recommendation"


@dataclass
class Part:
    """One part of the plan, with dice and numbers of its own: the other parts happen with or without it."""

    dice: random.Random
    first: int
    numbers: int = 0


@dataclass
class Run:
    """A job on a machine, as it really was."""

    machine: Machine
    since: float
    until: float | None = None


@dataclass
class Truth:
    """What really happened to machines, by their id, and where jobs really ran."""

    starts: dict[str, list[float]] = field(default_factory=dict)
    warnings: dict[str, list[float]] = field(default_factory=dict)
    ends: dict[str, list[float]] = field(default_factory=dict)
    ran: dict[int, Run] = field(default_factory=dict)
    planned: dict[int, list[str]] = field(default_factory=dict)
    """The machines that launchers started for a job."""


class MachineLives(Lives):
    def __init__(self, world: SystemWorld, plan: Plan) -> None:
        self._part = Part(plan.dice("outside of all parts"), 900_000)
        super().__init__(world, self._part.dice)
        self.world: SystemWorld = world
        self.plan = plan
        self.truth = Truth()
        self.sent: list[tuple[str, bytes, str]] = []

    # Parts

    @property
    def dice(self) -> random.Random:
        return self._part.dice

    @dice.setter
    def dice(self, _: random.Random) -> None:
        """Each part has its own."""

    def _number(self) -> int:
        self._part.numbers += 1
        return self._part.first + self._part.numbers

    def _later(self, moment: float, name: str, action: Callable[[], None]) -> None:
        super()._later(moment, name, partial(self._continue, self._part, action))

    def _continue(self, part: Part, action: Callable[[], None]) -> None:
        before, self._part = self._part, part
        try:
            action()
        finally:
            self._part = before

    def _launch(self, repository: str, job: Job | None) -> None:
        dice, owner = self.dice, repository.partition("/")[0]
        tags = {"pool": f"pool-{dice.randint(1, 9)}"} | (RUNNER_TAG if dice.random() < 0.85 else {})
        scope = dice.choice((owner, repository))
        if dice.random() < 0.5:
            tags["ghr:Owner"] = scope
        if dice.random() < 0.08:
            tags["ghr:bypass-removal"] = "true"
        is_task, number = dice.random() < 0.2, self._number()
        machine = Machine(
            f"{ARN}{number:032x}" if is_task else f"i-{number:017x}",
            tags,
            self.world.now(),
            spot=dice.random() < 0.5,
            instance_type=None if is_task else SIZES[number % len(SIZES)],
            zone="us-east-1a",
        )
        name = f"runner-{machine.id.rpartition('/')[2]}" if dice.random() < 0.95 else f"pool-{self._number()}"
        is_ephemeral = is_task or dice.random() < 0.6
        machine.facts = {
            "scope": scope,
            "name": name,
            "ephemeral": is_ephemeral,
            "standby": not is_task and not is_ephemeral and dice.random() < 0.5,
        }
        (self.world.ecs if is_task else self.world.ec2).machines[machine.id] = machine
        self.world.counts["tasks" if is_task else "instances"] += 1
        self.world.tell(f"AWS: {machine.id} starts for job {job.id if job else None} with {tags}, {machine.facts}")
        if job is not None and dice.random() < 0.6:
            self.truth.planned.setdefault(job.id, []).append(machine.id)
            self._event(
                partial(self.world.launcher_event, self._scheduled(machine, repository, job)), "runner_scheduled"
            )
        self._started(machine)

    def _started(self, machine: Machine) -> None:
        self.truth.starts.setdefault(machine.id, []).append(self.world.now())
        self._event(partial(self._machine_event, machine, "running"), f"{machine.id} runs")
        if self.dice.random() < 0.93:
            self._in(self.dice.uniform(20, 4 * MINUTE), "", partial(self._register, machine))

    def _event(self, act: Callable[[], None], about: str) -> None:
        """Its time is now, even if it arrives later."""
        if self.dice.random() < self.troubles.events_lost:
            self.world.counts["events lost"] += 1
            self.world.tell(f"event lost: {about}")
        else:
            act()

    def _scheduled(self, machine: Machine, repository: str, job: Job) -> dict[str, Any]:
        event = super()._scheduled(machine, repository, job)
        if len(self.truth.planned.get(job.id, ())) > 1:
            self.world.counts["jobs planned again"] += 1
            event["detail-type"] = "runner_rescheduled"
        if machine.id.startswith("arn:"):
            event["detail"]["kind"] = "ecs"
        if self.dice.random() < 0.5:
            event["detail"] |= {
                "instance_type": machine.instance_type,
                "instance_lifecycle": "spot" if machine.spot else "on-demand",
                "availability_zone": machine.zone,
                "pool_name": machine.tags["pool"],
            }
            if machine.instance_type:
                event["detail"]["price_per_hour"] = float(price_of(machine))
        return event

    def _machine_event(self, machine: Machine, state: str) -> None:
        at = datetime.fromtimestamp(self.world.now(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if machine.id.startswith("arn:"):
            is_up = state == "running"
            detail = {"taskArn": machine.id, "lastStatus": "RUNNING" if is_up else "STOPPED"}
            detail |= {"desiredStatus": "RUNNING", "startedAt": at} if is_up else {"stoppedAt": at}
            kind = "ECS Task State Change"
        else:
            detail, kind = {"instance-id": machine.id, "state": state}, "EC2 Instance State-change Notification"
        event = {"id": f"event-{self._number()}", "detail-type": kind, "time": at, "detail": detail, **PLACE}
        self.world.event("instance_state", event, about=f"{machine.id} {state} at {at}")

    def _warn(self, machine: Machine, kind: str) -> None:
        if not machine.alive:
            return
        self.world.counts["spot warnings" if kind == WARNING else "rebalance recommendations"] += 1
        at = datetime.fromtimestamp(self.world.now(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if kind == WARNING:
            self.truth.warnings.setdefault(machine.id, []).append(self.world.now())
        detail = {"instance-id": machine.id, "instance-action": "terminate"}
        event = {"id": f"event-{self._number()}", "detail-type": kind, "time": at, "detail": detail, **PLACE}
        self._event(
            partial(self.world.event, "spot_interruption", event, about=f"warning of {machine.id} at {at}"), kind
        )

    def _release(self, machine: Machine) -> None:
        if machine.facts.get("standby") and machine.alive and self.dice.random() < 0.7:
            runner_id = self.runner_of(machine)
            if runner_id is not None:
                self.state.remove("runners", runner_id)
            self._in(self.dice.uniform(5, 60), "", partial(self._stand_by, machine))
            return
        super()._release(machine)

    def _stand_by(self, machine: Machine) -> None:
        """Stopped, and later started again for other jobs."""
        if not machine.alive or machine.job_id is not None:
            return
        self.world.counts["standby machines"] += 1
        machine.state = "stopped"
        self.truth.ends.setdefault(machine.id, []).append(self.world.now())
        self._event(partial(self._machine_event, machine, "stopping"), f"{machine.id} is stopped")
        self._in(self.dice.uniform(2 * MINUTE, 20 * MINUTE), "", partial(self._wake, machine))

    def _wake(self, machine: Machine) -> None:
        if machine.state != "stopped":
            return
        self.world.tell(f"EC2: {machine.id} is started again")
        machine.state, machine.launched = "running", self.world.now()
        waiting = [each for each in self.state.jobs.values() if each.status == "queued"]
        if waiting and self.dice.random() < 0.5:
            job = self.dice.choice(waiting)
            repository = self.state.runs[job.run_id].repository
            if repository.partition("/")[0] == machine.facts["scope"].partition("/")[0]:
                self.truth.planned.setdefault(job.id, []).append(machine.id)
                self._event(
                    partial(self.world.launcher_event, self._scheduled(machine, repository, job)), "runner_scheduled"
                )
        self._started(machine)

    def _end(self, machine: Machine) -> None:
        if not machine.alive:
            return
        machine.end(self.world.now())
        self.truth.ends.setdefault(machine.id, []).append(self.world.now())
        lost = self.world.counts["events lost"]
        self._event(partial(self._machine_event, machine, "terminated"), f"{machine.id} ended")
        if machine.job_id is not None and self.world.counts["events lost"] > lost:
            self.world.counts["silent deaths"] += 1
        planned = [each for each, machines in self.truth.planned.items() if machine.id in machines]
        if planned and self.dice.random() < 0.3:
            self.world.counts["ends reported by launchers"] += 1
            job = self.state.jobs[planned[-1]]
            report = super()._scheduled(machine, self.state.runs[job.run_id].repository, job)
            report["detail-type"] = "runner_terminated"
            report["detail"] |= {"kind": "ecs" if machine.id.startswith("arn:") else "ec2", "reason": "its job ended"}
            self._event(partial(self.world.launcher_event, report), "runner_terminated")

    def _die(self, machine: Machine) -> None:
        if not machine.alive:
            return
        if self.dice.random() < 0.3:
            self._warn(machine, REBALANCE)
        if self.dice.random() < 0.6:
            self._warn(machine, WARNING)
            self._in(2 * MINUTE, f"AWS: {machine.id} dies", partial(self._die_now, machine))
        else:
            self._die_now(machine)

    def _die_now(self, machine: Machine) -> None:
        if not machine.alive:
            return
        job_id, runner_id = machine.job_id, self.runner_of(machine)
        self._end(machine)
        machine.job_id = None
        if job_id is not None:
            self.world.counts["jobs whose machine died"] += 1
        if runner_id is not None:
            self.state.runners[runner_id] = replace(self.state.runners[runner_id], status="offline")
        if job_id is not None:
            self._in(self.dice.uniform(MINUTE, 15 * MINUTE), "", partial(self._complete, job_id, None, "failure"))

    def stopped(self, machine: Machine) -> None:
        """The ledger stopped it: its runner is gone, and AWS reports the end."""
        self.truth.ends.setdefault(machine.id, []).append(self.world.now())
        self._event(partial(self._machine_event, machine, "terminated"), f"{machine.id} ended")

    # People and installations


def price_of(machine: Machine) -> Any:
    """None for a task: AWS publishes no price for it."""
    if machine.instance_type is None:
        return None
    return (SPOT_PRICES if machine.spot else ON_DEMAND_PRICES)[machine.instance_type]
