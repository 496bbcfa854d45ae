"""Random worlds: some jobs of one run, delivered in any order, some twice, to processes that race, fail and die."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from tests.simulation.calls import CRASHES, ERRORS
from tests.simulation.choices import Choices, seeded
from tests.simulation.explore import Flow, FlowFailed, Outcome, in_order, play
from tests.simulation.histories import broken_histories
from tests.simulation.job_life import ORDER_OF_ARRIVAL, STEPS, record, undisturbed
from tests.simulation.random_scenarios import random_scenario, random_story
from tests.simulation.scheduler import Limits
from tests.simulation.world import World
from tests.support.ledgers import EVENTS, JOBS, RUNS
from tests.support.webhooks import JOB

# A redelivery may also be recorded before the original, which is then the duplicate.
IGNORED = {
    JOBS: ORDER_OF_ARRIVAL[JOBS] | {"received_at", "last_updated_at", "ttl"},
    EVENTS: ORDER_OF_ARRIVAL[EVENTS] | {"duplicate"},
    RUNS: ORDER_OF_ARRIVAL[RUNS] | {"ttl"},
}
Delivered = tuple[str, int, int]
"""A step, the number of its redelivery, and the job's id."""


@dataclass(frozen=True, slots=True)
class Played:
    name: str
    outcome: Outcome
    violations: list[str]


def worlds(seed: int, first: int = 0) -> Iterator[Played]:
    """Each world follows from the seed and its number alone."""
    number = first
    while True:
        yield random_world(seed, number)
        number += 1


def random_world(seed: int, number: int) -> Played:
    """A third of them are plays of the scenarios, and a third of random stories of machines."""
    if number % 3:
        play_one = random_scenario if number % 3 == 1 else random_story
        return Played(f"seed {seed}, world {number}", *play_one(seed, number))
    dice = seeded(f"{seed} {number}")
    deliveries = _deliveries(dice)
    shares: list[list[Delivered]] = [[] for _ in range(dice.randint(1, 4))]
    for each in dice.sample(deliveries, len(deliveries)):
        dice.choice(shares).append(each)
    limits = Limits(
        preemptions=dice.randint(0, 8),
        faults=dice.randint(0, 4),
        kinds=(*CRASHES, *ERRORS),
        stale_reads=dice.randint(0, 2),
    )
    flows = {f"process {place}": _flow(share) for place, share in enumerate(shares, start=1) if share}
    expected = undisturbed(_flow(deliveries))
    name = f"seed {seed}, world {number}"
    try:
        outcome = play(World(), flows, Choices(dice=dice), limits)
    except FlowFailed as failed:
        return Played(name, expected, [str(failed)])
    return Played(name, outcome, [*outcome.differences(expected.tables, IGNORED), *broken_histories(outcome.tables)])


def _deliveries(dice: random.Random) -> list[Delivered]:
    jobs = range(JOB, JOB + dice.randint(1, 3))
    once = [(step, 0, job_id) for job_id in jobs for step in STEPS]
    return once + [(step, 1, job_id) for step, _, job_id in once if dice.random() < 0.3]


def _flow(deliveries: list[Delivered]) -> Flow:
    return in_order(*(record(*each) for each in deliveries))
