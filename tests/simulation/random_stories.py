"""Random stories of jobs and machines that could happen: reuse, standby, theft, warnings, deaths and two hooks.

Left out is what depends on the order of processing: see docs/adr/0001-machines-and-assignments.md.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from tests.simulation.explore import Flow
from tests.simulation.machine_inputs import ONE, OTHER, completed, queued, scheduled, started, state, warned
from tests.simulation.scenario import Scenario
from tests.support.ledgers import JOBS
from tests.support.webhooks import INSTALLATION

HOOK = 0
FIRST_MINUTE, LAST_MINUTE, MOST_INPUTS = 6, 50, 14


class State(StrEnum):
    NEW = "new"
    UP = "up"
    STOPPED = "stopped"
    GONE = "gone"


@dataclass
class Machine:
    runner_id: str
    state: State = State.NEW
    planned: int | None = None  # waits for this machine in this life
    runs: tuple[int, int] | None = None  # a job and the minute of its start

    @property
    def name(self) -> str:
        return self.runner_id[3]


@dataclass
class Story:
    dice: random.Random
    hooks: tuple[int, ...]
    machines: list[Machine]
    waiting: list[int]
    minute: int = FIRST_MINUTE
    inputs: dict[str, Flow] = field(default_factory=dict)

    def play(self) -> None:
        for job_id in self.waiting:
            self._queue(job_id)
        for machine in self.machines:
            # A plan proves the owner: without one, the first claimant is the owner.
            self._plan(machine)
        while self.minute < LAST_MINUTE and len(self.inputs) < MOST_INPUTS * len(self.hooks):
            self.minute += self.dice.randint(1, 3)
            machine = self.dice.choice(self.machines)
            if machine.runs:
                self._go_on(machine)
            elif machine.state is State.UP:
                self.dice.choice((self._begin, self._begin, self._begin, self._plan, self._end, self._warn))(machine)
            elif machine.state is not State.GONE:
                self._boot(machine)

    def _queue(self, job_id: int) -> None:
        self._report(f"queued {job_id}", lambda hook: queued(job_id, installation_id=hook))

    def _boot(self, machine: Machine) -> None:
        if self.dice.random() < 0.6:
            self._plan(machine)
        self.minute += 1
        self._turn(machine, State.UP, "running")

    def _plan(self, machine: Machine) -> None:
        if machine.planned in self.waiting or not self.waiting:
            return
        machine.planned = self.dice.choice(self.waiting)
        self.minute += 1
        plan = scheduled(machine.planned, machine.runner_id, self.minute, again=self.dice.random() < 0.3)
        self._add(f"plan {machine.planned} on {machine.name}", plan)

    def _begin(self, machine: Machine) -> None:
        if not self.waiting:
            return
        is_stolen = machine.planned not in self.waiting or self.dice.random() < 0.4
        job_id = self.dice.choice(self.waiting) if is_stolen else machine.planned
        assert job_id is not None
        self.waiting.remove(job_id)
        machine.planned, machine.runs = None, (job_id, self.minute)
        minute, runner_id = self.minute, machine.runner_id
        self._report(f"started {job_id}", lambda hook: started(job_id, runner_id, minute, installation_id=hook))

    def _go_on(self, machine: Machine) -> None:
        assert machine.runs is not None
        if self.dice.random() < 0.3:
            self._warn(machine)
            return
        dies = self.dice.random() < 0.4
        if dies:
            self._end(machine)
            self.minute += 1
        (job_id, start), end, runner_id = machine.runs, self.minute, machine.runner_id
        conclusion = "failure" if dies else self.dice.choice(("success", "failure"))
        machine.runs = None
        self._report(
            f"completed {job_id}",
            lambda hook: completed(job_id, runner_id, start, end, conclusion=conclusion, installation_id=hook),
        )

    def _warn(self, machine: Machine) -> None:
        self._add(f"warning of {machine.name}", warned(machine.runner_id, self.minute))

    def _end(self, machine: Machine) -> None:
        stops = self.dice.random() < 0.5
        machine.planned = None
        self._turn(machine, State.STOPPED if stops else State.GONE, "stopping" if stops else "shutting-down")

    def _turn(self, machine: Machine, becomes: State, name: str) -> None:
        machine.state = becomes
        self._add(f"{machine.name} {name}", state(machine.runner_id, name, self.minute))

    def _report(self, name: str, flow: Callable[[int], Flow]) -> None:
        """One report by each hook."""
        for hook in self.hooks:
            self._add(f"{name} by {hook}", flow(hook))

    def _add(self, name: str, flow: Flow) -> None:
        self.inputs[f"{name} at {self.minute}"] = flow


def story(dice: random.Random) -> Scenario:
    plot = Story(
        dice=dice,
        hooks=(INSTALLATION, HOOK) if dice.random() < 0.3 else (INSTALLATION,),
        machines=[Machine(each) for each in (ONE, OTHER)[: dice.randint(1, 2)]],
        waiting=[101, 202, 303][: dice.randint(2, 3)],
    )
    plot.play()
    return Scenario(inputs=plot.inputs, jobs={}, ignored={JOBS: frozenset({"runner_name", "queued_reported_at"})})
