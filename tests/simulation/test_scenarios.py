"""Jobs, machines, gates and runs agree in the end, whatever the order, repetitions, lookups, crashes and races."""

import random
from collections.abc import Iterator
from itertools import islice

import pytest

from tests.simulation.calls import Step
from tests.simulation.choices import seeded
from tests.simulation.disturbed_scenarios import crashes, crashes_twice, races, races_with_lookups
from tests.simulation.explore import Flow, all_orders, with_duplicates
from tests.simulation.machine_inputs import look_up_all
from tests.simulation.random_scenarios import random_scenario, random_story
from tests.simulation.scenario import Scenario
from tests.simulation.scenario_checks import undisturbed, violations
from tests.simulation.scenarios import SCENARIOS

ORDERS = 8

every_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


def with_lookups(order: tuple[Flow, ...], dice: random.Random) -> Iterator[tuple[Flow, ...]]:
    """Lookups at once, at the end, and at one point in between."""
    yield tuple(each for flow in order for each in (flow, look_up_all))
    yield order
    place = dice.randint(1, len(order))
    yield (*order[:place], look_up_all, *order[place:])


@every_scenario
def test_the_order_of_events_ends_as_expected(scenario: Scenario) -> None:
    outcome = undisturbed(*scenario.inputs.values())
    assert not violations(outcome, scenario, outcome), outcome.story()


@every_scenario
def test_every_order_ends_in_the_same_tables(scenario: Scenario) -> None:
    expected = undisturbed(*scenario.inputs.values())
    dice = seeded(4)
    for names in all_orders(tuple(scenario.inputs), limit=ORDERS, seed=7):
        for order in with_lookups(tuple(scenario.inputs[name] for name in names), dice):
            outcome = undisturbed(*order)
            assert not violations(outcome, scenario, expected), f"{names}\n{outcome.story()}"


@every_scenario
def test_repeated_inputs_change_nothing(scenario: Scenario) -> None:
    expected = undisturbed(*scenario.inputs.values())
    for names in all_orders(tuple(scenario.inputs), limit=2, seed=11):
        for repeated in with_duplicates(tuple(scenario.inputs[name] for name in names)):
            outcome = undisturbed(*(each for flow in repeated for each in (flow, look_up_all)))
            assert not violations(outcome, scenario, expected), f"{names}\n{outcome.story()}"


@every_scenario
def test_a_crash_at_any_call_and_a_retry_leave_the_tables_of_no_crash(scenario: Scenario) -> None:
    for outcome, found in crashes(scenario, orders=1, seed=5):
        assert not found, outcome.story()


@every_scenario
def test_a_crash_another_input_and_a_crash_of_the_retry_end_as_expected(scenario: Scenario) -> None:
    for outcome, found in crashes_twice(scenario, limit=24, seed=3):
        assert not found, outcome.story()


def test_without_a_limit_the_two_crashes_are_at_every_call_in_turn() -> None:
    plays = list(islice(crashes_twice(SCENARIOS["rename"], limit=None, seed=3), 30))
    crashed = {step.number for outcome, _ in plays for step in outcome.steps if isinstance(step, Step) and step.fault}
    assert not any(found for _, found in plays)
    assert len(crashed) > 4


@every_scenario
def test_two_inputs_at_once_end_as_expected(scenario: Scenario) -> None:
    for outcome, found in races(scenario, limit=6):
        assert not found, outcome.story()


@every_scenario
def test_a_lookup_beside_any_input_ends_as_expected(scenario: Scenario) -> None:
    # The defect that took longest to find was the 26th race of `restart_before_busy`.
    for outcome, found in races_with_lookups(scenario, limit=8 if scenario is SCENARIOS["swap"] else 16):
        assert not found, outcome.story()


def test_random_plays_end_as_expected() -> None:
    for number in range(60):
        outcome, violations = random_scenario(1, number)
        assert not violations, outcome.story()


def test_random_stories_end_as_in_the_order_of_events() -> None:
    for number in range(40):
        outcome, violations = random_story(1, number)
        assert not violations, f"story {number}\n{outcome.story()}"
