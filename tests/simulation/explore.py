"""What a scenario calls: orders, duplicates, interleavings, crashes and faults, each ending in an outcome to check."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import TypeVar

from tests.simulation.calls import CRASHES, ERRORS, Fault, Step
from tests.simulation.choices import Choices, every, seeded
from tests.simulation.differences import NOTHING, Ignored, Tables, differences
from tests.simulation.scheduler import Limits, Result, Scheduler
from tests.simulation.world import Process, World

T = TypeVar("T")
Flow = Callable[[Process], object]
NAMES = "ABCDEFGH"


@dataclass(frozen=True, slots=True)
class Outcome:
    tables: Tables
    messages: Mapping[str, tuple[str, ...]]
    results: Mapping[str, Result]
    steps: Sequence[Step | str]
    choices: tuple[int, ...]

    @property
    def calls(self) -> int:
        return sum(isinstance(step, Step) for step in self.steps)

    @property
    def faults(self) -> int:
        return sum(isinstance(step, Step) and step.fault is not None for step in self.steps)

    def differences(self, expected: Tables, ignoring: Ignored = NOTHING) -> list[str]:
        return differences(expected, self.tables, ignoring)

    def story(self) -> str:
        lines = [f"{number:3}. {step}" for number, step in enumerate(self.steps, start=1)]
        return "\n".join([*lines, f"choices: {list(self.choices)}"])


class FlowFailed(AssertionError):
    """A flow failed although nothing disturbed it."""


def play(
    world: World,
    flows: Mapping[str, Flow],
    choices: Choices | None = None,
    limits: Limits | None = None,
    *,
    recover: Flow | None = None,
) -> Outcome:
    """Each flow in a process of its own. For each that fails, `recover` follows undisturbed in a new process.

    By default that is the flow itself, as a queue or GitHub would deliver its input again.
    """
    choices = choices or Choices()
    world.scheduler = scheduler = Scheduler(world.clock, choices, limits or Limits())
    results = scheduler.run({name: partial(flow, world.process()) for name, flow in flows.items()})
    steps: list[Step | str] = [*scheduler.story]
    failed = [name for name, result in results.items() if result.failed]
    disturbed = any(isinstance(step, Step) and step.fault for step in steps)
    if failed and disturbed:
        for name in failed:
            world.scheduler = again = Scheduler(world.clock, Choices(), Limits())
            results |= again.run({f"{name} again": partial(recover or flows[name], world.process(retries=True))})
            steps += again.story
        failed = [f"{name} again" for name in failed if results[f"{name} again"].failed]
    outcome = Outcome(world.engine.snapshot().items, dict(world.queues.messages), results, steps, tuple(choices.taken))
    if failed:
        raise FlowFailed(f"{failed[0]}: {results[failed[0]]}\n{outcome.story()}") from results[failed[0]].error
    return outcome


def killed(world: World, flow: Flow, call: int, kind: int, *, retries: bool = False) -> tuple[bool, list[Step | str]]:
    """Kills the process before or after this call, if it reaches it. Nothing recovers it."""
    return _alone(world, flow, Choices([0] * (call - 1) + [1 + kind]), Limits(faults=1, kinds=CRASHES), retries)


def retry(world: World, flow: Flow) -> list[Step | str]:
    return _alone(world, flow, Choices(), Limits(), True)[1]


def _alone(world: World, flow: Flow, choices: Choices, limits: Limits, retries: bool) -> tuple[bool, list[Step | str]]:
    world.scheduler = Scheduler(world.clock, choices, limits)
    result = world.scheduler.run({"A": partial(flow, world.process(retries=retries))})["A"]
    if result.error:
        raise FlowFailed(f"A: {result}") from result.error
    return result.killed, world.scheduler.story


def explore(
    world: World,
    flows: Mapping[str, Flow],
    limits: Limits,
    *,
    recover: Flow | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> Iterator[Outcome]:
    """All plays within the limits, or `limit` of them, each beginning with the world as it is now."""
    start = world.save()

    def once(choices: Choices) -> Outcome:
        world.restore(start)
        return play(world, flows, choices, limits, recover=recover)

    yield from every(once, limit=limit, seed=seed)
    world.restore(start)


def interleavings(
    world: World, *flows: Flow, preemptions: int = 2, stale_reads: int = 0, limit: int | None = None, seed: int = 0
) -> Iterator[Outcome]:
    """Every order in which the flows' calls can meet, with at most so many preemptions."""
    limits = Limits(preemptions=preemptions, stale_reads=stale_reads)
    yield from explore(world, dict(zip(NAMES, flows, strict=False)), limits, limit=limit, seed=seed)


def crash_points(
    world: World, flow: Flow, *, recover: Flow | None = None, kinds: tuple[Fault, ...] = CRASHES
) -> Iterator[Outcome]:
    """Undisturbed first, then killed before and after each call, and recovered."""
    yield from explore(world, {"A": flow}, Limits(faults=1, kinds=kinds), recover=recover)


def fault_points(
    world: World, flow: Flow, *, recover: Flow | None = None, kinds: tuple[Fault, ...] = ERRORS
) -> Iterator[Outcome]:
    """Undisturbed first, then with each fault at each call, and recovered if the flow failed."""
    yield from explore(world, {"A": flow}, Limits(faults=1, kinds=kinds), recover=recover)


def all_orders(inputs: Sequence[T], *, limit: int = 5040, seed: int = 0) -> Iterator[tuple[T, ...]]:
    """Every order, or `limit` random ones if there are more."""
    if math.factorial(len(inputs)) <= limit:
        yield from permutations(inputs)
        return
    dice = seeded(seed)
    for _ in range(limit):
        yield tuple(dice.sample(inputs, len(inputs)))


def with_duplicates(order: Sequence[T]) -> Iterator[tuple[T, ...]]:
    """The order itself; with each input repeated at once; with all repeated at the end, or backwards."""
    yield tuple(order)
    yield tuple(each for each in order for _ in range(2))
    yield (*order, *order)
    yield (*order, *reversed(order))


def in_order(*flows: Flow) -> Flow:
    """One process that does these one after the other, as a warm function does."""

    def flow(process: Process) -> None:
        for each in flows:
            each(process)

    return flow
