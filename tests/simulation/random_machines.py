"""Random plays of the scenarios of jobs and machines: any order, repetitions, races, faults, lookups at any point."""

import random

from tests.simulation.calls import CRASHES, ERRORS
from tests.simulation.choices import Choices, seeded
from tests.simulation.explore import Flow, FlowFailed, Outcome, in_order, play
from tests.simulation.machine_checks import SCENARIOS, differences, mistakes, undisturbed
from tests.simulation.machine_inputs import Scenario, look_up_again, look_up_all
from tests.simulation.scheduler import Limits
from tests.simulation.world import World


def random_machines(seed: int, number: int) -> tuple[Outcome, list[str]]:
    dice = seeded(f"machines {seed} {number}")
    scenario = SCENARIOS[dice.choice(sorted(SCENARIOS))]
    expected = undisturbed(*scenario.inputs.values())
    if dice.random() < 0.5:
        outcome = undisturbed(*_shuffled(scenario, dice))
        return outcome, mistakes(outcome, scenario) or differences(outcome, expected)
    shares: list[list[Flow]] = [[] for _ in range(dice.randint(2, 4))]
    for flow in _shuffled(scenario, dice):
        dice.choice(shares).append(flow)
    limits = Limits(
        preemptions=dice.randint(0, 8),
        faults=dice.randint(0, 3),
        kinds=(*CRASHES, *ERRORS),
        stale_reads=dice.randint(0, 2),
    )
    world = World()
    flows = {f"process {place}": in_order(*share) for place, share in enumerate(shares, start=1) if share}
    try:
        play(world, flows, Choices(dice=dice), limits)
    except FlowFailed as failed:
        return expected, [str(failed)]
    outcome = play(world, {"lookups": look_up_all})
    return outcome, mistakes(outcome, scenario)


def _shuffled(scenario: Scenario, dice: random.Random) -> list[Flow]:
    names = list(scenario.inputs)
    names += [name for name in names if dice.random() < 0.2]
    flows: list[Flow] = []
    for name in dice.sample(names, len(names)):
        flows.append(scenario.inputs[name])
        if dice.random() < 0.4:
            flows.append(look_up_again)
    return flows
