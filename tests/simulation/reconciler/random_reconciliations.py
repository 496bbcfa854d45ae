"""Random worlds of the reconciler: what goes wrong, what happens and when passes run follow from seed and number."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from runledger.model.passes import PassKind

from tests.simulation.choices import seeded
from tests.simulation.reconciler import troubles
from tests.simulation.reconciler.checks import Checks
from tests.simulation.reconciler.lives import REPOSITORIES, Lives
from tests.simulation.reconciler.production import ENVIRONMENT, wired_to
from tests.simulation.reconciler.suspicions import Suspicions
from tests.simulation.reconciler.troubles import MINUTE
from tests.simulation.reconciler.world import START, World

QUICK_SECONDS, FULL_SECONDS = 5 * MINUTE, 30 * MINUTE
# As docs/reconciler.md states it: for jobs that the ledger has, and where a webhook must be redelivered first.
SETTLED_SECONDS, REDELIVERED_SECONDS = 90 * MINUTE, 210 * MINUTE
# A runner whose suspicion was cleared just before the silence is not suspected again for half an hour.
STOPPED_SECONDS = SETTLED_SECONDS + 30 * MINUTE
REPORTING = 10  # in one of so many worlds, orphans are only reported


@dataclass(frozen=True, slots=True)
class Reconciled:
    name: str
    story: list[str]
    violations: list[str]
    passes: int
    calls: int
    stops: int
    requests: int
    healed: int
    suspected: Mapping[str, int]


def reconcile_world(seed: int, number: int) -> Reconciled:
    name = f"seed {seed}, world {number}"
    state = random.getstate()
    random.seed(name)  # pauses between the client's retries
    try:
        return _play(name, enforce=number % REPORTING != REPORTING - 1)
    finally:
        random.setstate(state)


def _play(name: str, *, enforce: bool) -> Reconciled:
    dice = seeded(name)
    silent_at = START + dice.choice((45, 60, 90)) * MINUTE
    repositories = [each for names in REPOSITORIES.values() for each in names]
    world = World(troubles.draw(dice, name, start=START, silent_at=silent_at, repositories=repositories))
    lives = Lives(world, dice)
    checks = Checks(world, lives)
    suspicions = Suspicions(world, lives)
    world.judge_stop = lambda machine: checks.of_a_stop(machine) + suspicions.of_a_stop(machine)
    world.judge_line = suspicions.emitted
    world.bus.requested = partial(
        _requested, world, lives, lambda job_id: checks.of_a_request(job_id) + suspicions.of_a_request(job_id)
    )
    with wired_to(world, ENVIRONMENT | {"ORPHANS": "enforce" if enforce else "report"}):
        _ = world.receiving
        lives.begin(START)
        _schedule(world, dice, until=silent_at + REDELIVERED_SECONDS + MINUTE)
        world.play(silent_at + SETTLED_SECONDS + MINUTE)
        violations = [*world.wrong, *checks.of_jobs(sent_ones_too=False)]
        if not violations and any(checks.of_jobs(sent_ones_too=True)):
            world.play(silent_at + REDELIVERED_SECONDS + MINUTE)
            violations = [*world.wrong, *checks.of_jobs(sent_ones_too=True)]
        elif not violations:
            world.play(silent_at + STOPPED_SECONDS + MINUTE)
            violations = [*world.wrong]
        violations += [*checks.of_requests(), *(checks.of_orphans() if enforce else checks.of_reports())]
    return Reconciled(
        name,
        world.story,
        violations,
        passes=len(world.passes),
        calls=world.calls,
        stops=len(world.stops),
        requests=len(world.bus.entries),
        healed=sum(each.result["summary"]["jobs_healed"] for each in world.passes if each.result),
        suspected=suspicions.reasons,
    )


def _requested(world: World, lives: Lives, judge: Callable[[int], list[str]], job_id: int) -> None:
    world.wrong += judge(job_id)
    lives.requested(job_id)


def _schedule(world: World, dice: random.Random, *, until: float) -> None:
    """Schedule passes as the stacks do. Before the silence, some are skipped, late, or run at the same time."""
    offset = dice.uniform(0, QUICK_SECONDS)
    ticks = int((until - START - offset) / QUICK_SECONDS) + 1
    for tick in range(ticks):
        moment = START + offset + tick * QUICK_SECONDS
        kinds = [PassKind.QUICK, PassKind.FULL] if tick % (FULL_SECONDS // QUICK_SECONDS) == 0 else [PassKind.QUICK]
        if moment < world.troubles.silent_at:
            kinds = [each for each in kinds if dice.random() >= world.troubles.skipped]
            kinds += [dice.choice((PassKind.QUICK, PassKind.FULL)) for _ in range(dice.choice((0, 0, 0, 0, 0, 1)))]
        else:
            # A full pass does all that a quick one does, and where nothing happens, quick ones in a row find the same.
            kinds = kinds[-1:] if tick % 3 == 0 else []
        if kinds:
            world.at(moment, "pass", partial(world.reconcile, *kinds))
