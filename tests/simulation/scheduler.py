"""Runs tasks one at a time and decides, at each of their calls, which task continues and what goes wrong.

Tasks are threads, because the domain's code is synchronous, but only the holder of the baton runs. It decides before
each of its calls whether to keep the baton, so most calls cost no switch at all.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.simulation import workers
from tests.simulation.calls import Fault, Killed, Step, disturbed
from tests.simulation.choices import Choices
from tests.simulation.clock import Clock
from tests.simulation.workers import Worker

LARGEST_LAG = 2
MOST_CALLS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of each disturbance one play may have."""

    preemptions: int = 0
    faults: int = 0
    kinds: tuple[Fault, ...] = ()
    stale_reads: int = 0


@dataclass(slots=True)
class Result:
    value: Any = None
    error: Exception | None = None
    killed: bool = False

    @property
    def failed(self) -> bool:
        return self.killed or self.error is not None

    def __str__(self) -> str:
        return "killed" if self.killed else repr(self.error) if self.error else "done"


@dataclass(eq=False)
class Task:
    name: str
    flow: Callable[[], object]
    worker: Worker
    result: Result = field(default_factory=Result)
    calls: int = 0
    wakes_at: float = 0.0
    finished: bool = False


class Endless(Exception):
    """A task makes calls without end: a loop that no input should cause."""


class Scheduler:
    def __init__(self, clock: Clock, choices: Choices, limits: Limits, *, most_calls: int = MOST_CALLS) -> None:
        self._clock = clock
        self._most_calls = most_calls
        self._choices = choices
        self._preemptions = limits.preemptions
        self._faults = limits.faults
        self._kinds = (None, *limits.kinds)
        self._stale_reads = limits.stale_reads
        self._tasks: list[Task] = []
        self._current: Task | None = None
        self._done = threading.Lock()
        self.story: list[Step | str] = []

    @property
    def current(self) -> str | None:
        """The name of the task that holds the baton."""
        return self._current.name if self._current else None

    def run(self, flows: Mapping[str, Callable[[], object]]) -> dict[str, Result]:
        """Run until all tasks are finished."""
        self._tasks = [Task(name, flow, workers.borrow()) for name, flow in flows.items()]
        for task in self._tasks:
            task.worker.give(lambda task=task: self._perform(task))  # type: ignore[misc]
        self._done.acquire()
        self._pass_on()
        self._done.acquire()
        self._done.release()
        self._current = None
        return {task.name: task.result for task in self._tasks}

    def add(self, name: str, flow: Callable[[], object]) -> None:
        """Another task, while others run: called by the one that holds the baton."""
        task = Task(name, flow, workers.borrow())
        task.worker.give(lambda: self._perform(task))
        self._tasks.append(task)

    def call(self, service: str, operation: str, arguments: Mapping[str, Any], effect: Callable[[], Any]) -> Any:
        task = self._current
        if task is None:
            return effect()
        if task.result.killed:
            raise Killed  # calls from the `finally` clauses of a dead process have no effect
        if task.calls and self._preemptions:
            self._maybe_preempt(task)
        task.calls += 1
        if task.calls > self._most_calls:
            raise Endless(f"{task.name} has made {self._most_calls} calls")
        step = Step(task.name, task.calls, service, operation, arguments)
        self.story.append(step)
        fault = self._kinds[self._choices.pick(len(self._kinds))] if self._faults else None
        if fault:
            self._faults -= 1
        try:
            return disturbed(step, fault, effect)
        except Killed:
            task.result.killed = True
            raise

    def lag(self, operation: str, table: str) -> int:
        """How many of a table's writes an eventually consistent read misses."""
        if self._current is None or not self._stale_reads:
            return 0
        lag = self._choices.pick(LARGEST_LAG + 1)
        if lag:
            self._stale_reads -= 1
            self.story.append(f"{self._current.name}: {operation} of {table} misses the last {lag} writes to it")
        return lag

    def sleep(self, seconds: float) -> None:
        """Other tasks run meanwhile; if none can run, the clock jumps to the next wake-up."""
        task = self._current
        if task is None:
            self._clock.advance(seconds)
            return
        task.wakes_at = self._clock.now() + seconds
        following = self._next()
        assert following is not None
        self._switch(task, following)

    def _maybe_preempt(self, task: Task) -> None:
        others = [each for each in self._ready() if each is not task]
        if chosen := self._choices.pick(len(others) + 1):
            self._preemptions -= 1
            self._switch(task, others[chosen - 1])

    def _switch(self, task: Task, to: Task) -> None:
        if to is not task:
            self._current = to
            to.worker.baton.release()
            task.worker.baton.acquire()

    def _perform(self, task: Task) -> None:
        try:
            task.result.value = task.flow()
        except Killed:
            task.result.killed = True
        except Exception as error:
            task.result.error = error
        task.finished = True
        self.story.append(f"{task.name} ends: {task.result}")
        workers.put_back(task.worker)
        self._pass_on()

    def _pass_on(self) -> None:
        following = self._next()
        if following is None:
            self._done.release()
            return
        self._current = following
        following.worker.baton.release()

    def _next(self) -> Task | None:
        """A task that can run; the clock jumps forward until there is one."""
        waiting = [task for task in self._tasks if not task.finished]
        if not waiting:
            return None
        ready = self._ready()
        if not ready:
            self._clock.seconds = min(task.wakes_at for task in waiting)
            ready = self._ready()
        return ready[self._choices.pick(len(ready))]

    def _ready(self) -> list[Task]:
        now = self._clock.now()
        return [task for task in self._tasks if not task.finished and task.wakes_at <= now]
