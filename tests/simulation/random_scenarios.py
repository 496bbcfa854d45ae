"""Random plays of scenarios and of random stories: any order, repetitions, lookups at any point, races and faults."""

import random
from collections.abc import Iterator, Sequence

from tests.simulation.calls import CRASHES, ERRORS
from tests.simulation.choices import Choices, seeded
from tests.simulation.explore import Flow, FlowFailed, Outcome, all_orders, in_order, play
from tests.simulation.machine_inputs import look_up_again, look_up_all
from tests.simulation.random_stories import story
from tests.simulation.scenario import Scenario
from tests.simulation.scenario_checks import undisturbed, violations
from tests.simulation.scenarios import SCENARIOS
from tests.simulation.scheduler import Limits
from tests.simulation.world import World


def random_scenario(seed: int, number: int) -> tuple[Outcome, list[str]]:
    """Half of the plays are disturbed."""
    dice = seeded(f"scenarios {seed} {number}")
    return _random_play(SCENARIOS[dice.choice(sorted(SCENARIOS))], dice, faults=dice.randint(0, 3))


def random_story(seed: int, number: int) -> tuple[Outcome, list[str]]:
    """Its end is compared with that of the order of events."""
    dice = seeded(f"stories {seed} {number}")
    return _random_play(story(dice), dice, faults=dice.randint(0, 3))


def _random_play(scenario: Scenario, dice: random.Random, *, faults: int) -> tuple[Outcome, list[str]]:
    expected = undisturbed(*scenario.inputs.values())
    if dice.random() < 0.5:
        outcome = undisturbed(*_shuffled(scenario, dice))
    else:
        try:
            outcome = _disturbed(scenario, dice, faults)
        except FlowFailed as failed:
            return expected, [str(failed)]
    return outcome, violations(outcome, scenario, expected)


def orders(scenario: Scenario, *, limit: int, seed: int) -> Iterator[Outcome]:
    """Every order of the inputs, or `limit` random ones if there are more, each with repetitions and lookups."""
    for number, names in enumerate(all_orders(tuple(scenario.inputs), limit=limit, seed=seed)):
        yield undisturbed(*_played(scenario, names, seeded(f"{seed} {number}")))


def _disturbed(scenario: Scenario, dice: random.Random, faults: int) -> Outcome:
    shares: list[list[Flow]] = [[] for _ in range(dice.randint(2, 4))]
    for flow in _shuffled(scenario, dice):
        dice.choice(shares).append(flow)
    limits = Limits(
        preemptions=dice.randint(0, 8),
        faults=faults,
        kinds=(*CRASHES, *ERRORS),
        stale_reads=dice.randint(0, 2),
    )
    world = World()
    flows = {f"process {place}": in_order(*share) for place, share in enumerate(shares, start=1) if share}
    play(world, flows, Choices(dice=dice), limits)
    return play(world, {"lookups": look_up_all})


def _shuffled(scenario: Scenario, dice: random.Random) -> list[Flow]:
    names = tuple(scenario.inputs)
    return _played(scenario, dice.sample(names, len(names)), dice)


def _played(scenario: Scenario, order: Sequence[str], dice: random.Random) -> list[Flow]:
    """Play inputs in this order. Some come again at a later point, and lookups are done at some points in between."""
    names = list(order)
    for name in order:
        if dice.random() < 0.2:
            names.insert(dice.randint(names.index(name) + 1, len(names)), name)
    flows: list[Flow] = []
    for name in names:
        flows.append(scenario.inputs[name])
        if dice.random() < 0.4:
            flows.append(look_up_again)
    return flows
