"""One world of the whole system from a seed and a number."""

import random
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from unittest.mock import patch

from runledger.platform import logs

from tests.simulation.reconciler.production import ENVIRONMENT, wired_to
from tests.simulation.reconciler.troubles import MINUTE
from tests.simulation.reconciler.world import START
from tests.simulation.system.checks import SystemChecks
from tests.simulation.system.lives import RERUNS, SystemLives
from tests.simulation.system.plan import Plan, draw
from tests.simulation.system.world import SystemWorld

# As docs/reconciler.md states it: for jobs that the ledger has, and where a webhook must be redelivered first.
SETTLED_SECONDS, REDELIVERED_SECONDS = 90 * MINUTE, 210 * MINUTE
PASS_SECONDS = 30 * MINUTE


@dataclass(frozen=True, slots=True)
class Played:
    plan: Plan
    story: list[str]
    violations: list[str]
    steps: int
    faults: int
    counts: Counter[str]
    disturbed: tuple[str, ...] = ()
    """The invocations with faults."""

    @property
    def name(self) -> str:
        return self.plan.name


def system_world(seed: int, number: int) -> Played:
    return play(draw(seed, number))


def play(plan: Plan) -> Played:
    state = random.getstate()
    random.seed(plan.name)  # pauses between the client's retries
    try:
        return _play(plan)
    finally:
        random.setstate(state)


def _play(plan: Plan) -> Played:
    plan.troubles.calls.clear()
    world = SystemWorld(plan)
    lives = SystemLives(world, plan)
    checks = SystemChecks(world, lives)
    world.judge_stop, world.stopped = checks.of_a_stop, lives.stopped
    world.bus.requested = partial(_requested, world, lives, checks)
    world.accepted, world.finished = checks.accepted, checks.finished
    world.rerun = partial(_rerun, lives, checks)
    world.storage.written = checks.written
    with wired_to(world, ENVIRONMENT | {"RERUN": "interrupted"}), _errors_noted(world):
        lives.begin(START)
        world.play(plan.silent_at)
        violations = _rest(world, checks)
    return Played(plan, world.story, violations, world.calls, world.faults, world.counts, tuple(world.disturbed))


def _rest(world: SystemWorld, checks: SystemChecks) -> list[str]:
    """Passes until the ledger and GitHub agree, at most for as long as it may take.

    A re-run that a pass causes is new on GitHub, so the silence begins again. Each run has one at most.
    """
    silent_at, passes, reruns = world.plan.silent_at, 0, world.counts[RERUNS]
    while not world.wrong:
        passes += 1
        at = world.plan.silent_at + passes * PASS_SECONDS
        world.at(
            at, "", partial(world.invoke, "reconciler", {"pass": "full", "id": f"9{passes:05}"}, about=f"{passes}")
        )
        world.play(at + 10 * MINUTE)
        if world.counts[RERUNS] > reruns:
            silent_at, reruns = at, world.counts[RERUNS]
        late = at - silent_at >= SETTLED_SECONDS
        if late and (different := [*checks.of_jobs_at_rest(sent_ones_too=False)]):
            return [*world.wrong, *different]
        different = [*checks.of_jobs_at_rest(sent_ones_too=True)]
        if passes >= 2 and not different:
            world.counts[f"at rest after {passes} passes"] += 1
            return [*world.wrong, *checks.of_requests(), *checks.of_records()]
        if at - silent_at >= REDELIVERED_SECONDS:
            return [*world.wrong, *different]
    return world.wrong


def _requested(world: SystemWorld, lives: SystemLives, checks: SystemChecks, job_id: int) -> None:
    world.counts["runners requested"] += 1
    world.wrong += checks.of_a_request(job_id)
    lives.requested(job_id)


def _rerun(lives: SystemLives, checks: SystemChecks, run_id: int) -> None:
    checks.rerun(run_id)
    lives.rerun(run_id)


@contextmanager
def _errors_noted(world: SystemWorld) -> Iterator[None]:
    """What functions log and don't raise."""

    def logged(*_: object, **__: object) -> None:
        error = sys.exc_info()[1]
        if error is not None:
            world.exception_logged(error)

    with (
        patch.object(logs.logger, "exception", logged),
        patch.object(logs, "message_rejected", lambda *_, **__: world.message_rejected()),
    ):
        yield
