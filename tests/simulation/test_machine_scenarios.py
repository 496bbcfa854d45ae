"""Jobs and machines agree in the end, whatever the order of inputs, lookups, repetitions, crashes and races."""

import random
from collections.abc import Iterator
from itertools import combinations

import pytest

from tests.simulation.choices import seeded
from tests.simulation.explore import Flow, all_orders, crash_points, in_order, interleavings, play, with_duplicates
from tests.simulation.machine_checks import SCENARIOS, differences, mistakes, undisturbed
from tests.simulation.machine_inputs import LOOKUPS, Scenario, look_up, look_up_all
from tests.simulation.random_machines import random_machines
from tests.simulation.world import World

ORDERS = 30

every_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


def with_lookups(order: tuple[Flow, ...], dice: random.Random) -> Iterator[tuple[Flow, ...]]:
    """At once, at the end, and at one point in between."""
    yield tuple(each for flow in order for each in (flow, look_up_all))
    yield order
    place = dice.randint(1, len(order))
    yield (*order[:place], look_up_all, *order[place:])


@every_scenario
def test_the_order_of_events_ends_as_expected(scenario: Scenario) -> None:
    outcome = undisturbed(*scenario.inputs.values())
    assert not mistakes(outcome, scenario), outcome.story()


@every_scenario
def test_every_order_ends_in_the_same_tables(scenario: Scenario) -> None:
    expected = undisturbed(*scenario.inputs.values())
    dice = seeded(4)
    for names in all_orders(tuple(scenario.inputs), limit=ORDERS, seed=7):
        for order in with_lookups(tuple(scenario.inputs[name] for name in names), dice):
            outcome = undisturbed(*order)
            assert not mistakes(outcome, scenario), f"{names}\n{outcome.story()}"
            assert not differences(outcome, expected), f"{names}\n{outcome.story()}"


@every_scenario
def test_repeated_inputs_change_nothing(scenario: Scenario) -> None:
    expected = undisturbed(*scenario.inputs.values())
    for names in all_orders(tuple(scenario.inputs), limit=4, seed=11):
        for repeated in with_duplicates(tuple(scenario.inputs[name] for name in names)):
            outcome = undisturbed(*(each for flow in repeated for each in (flow, look_up_all)))
            assert not mistakes(outcome, scenario), f"{names}\n{outcome.story()}"
            assert not differences(outcome, expected), f"{names}\n{outcome.story()}"


def after(names: tuple[str, ...], scenario: Scenario) -> World:
    world = World()
    play(world, {"past": in_order(*(scenario.inputs[name] for name in names))})
    return world


@every_scenario
def test_a_crash_at_any_call_and_a_retry_leave_the_tables_of_no_crash(scenario: Scenario) -> None:
    for names in all_orders(tuple(scenario.inputs), limit=2, seed=5):
        for place in range(len(names)):
            world = after(names[:place], scenario)
            waiting = world.queues.take(LOOKUPS)
            for flow in (*map(look_up, waiting), scenario.inputs[names[place]]):
                expected, *crashed = crash_points(world, flow)
                for outcome in crashed:
                    assert not outcome.differences(expected.tables), outcome.story()
                play(world, {"A": flow})


@every_scenario
def test_two_inputs_at_once_end_as_expected(scenario: Scenario) -> None:
    names = tuple(scenario.inputs)
    for one, other in combinations(names, 2):
        world = after(tuple(name for name in names if name not in (one, other)), scenario)
        for outcome in interleavings(world, scenario.inputs[one], scenario.inputs[other], limit=8):
            # The world is as the play left it until the next one begins.
            ended = play(world, {"lookups": look_up_all})
            assert not mistakes(ended, scenario), f"{one}, {other}\n{outcome.story()}\n{ended.story()}"


@every_scenario
def test_a_lookup_beside_any_input_ends_as_expected(scenario: Scenario) -> None:
    names = tuple(scenario.inputs)
    for last in names:
        world = after(tuple(name for name in names if name != last), scenario)
        messages = tuple(dict.fromkeys(world.queues.take(LOOKUPS)))
        for message in messages:
            for outcome in interleavings(world, look_up(message), scenario.inputs[last], limit=12):
                ended = play(world, {"lookups": in_order(*map(look_up, messages), look_up_all)})
                assert not mistakes(ended, scenario), f"{last}\n{outcome.story()}\n{ended.story()}"


def test_random_plays_end_as_expected() -> None:
    for number in range(100):
        outcome, violations = random_machines(1, number)
        assert not violations, outcome.story()
