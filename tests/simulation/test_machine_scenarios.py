"""Jobs and machines agree in the end, whatever the order of inputs, lookups, repetitions, crashes and races."""

import random
from collections.abc import Iterator, Mapping
from itertools import combinations, islice
from typing import Any

import pytest
from runledger.tables.attributes import from_attributes

from tests.ledgers import EVENTS, JOBS, RUNNERS, RUNS
from tests.simulation.choices import seeded
from tests.simulation.explore import (
    Flow,
    Outcome,
    all_orders,
    crash_points,
    in_order,
    interleavings,
    play,
    with_duplicates,
)
from tests.simulation.machine_inputs import LOOKUPS, Scenario, look_up, look_up_all
from tests.simulation.scenarios import (
    reschedule,
    reused_runner,
    silent_death,
    spot_warning,
    standby_pool,
    swap,
    theft,
    warm_pool,
)
from tests.simulation.world import World
from tests.webhooks import INSTALLATION

SCENARIOS = {
    module.__name__.rpartition(".")[2]: module.SCENARIO
    for module in (
        standby_pool,
        warm_pool,
        theft,
        reschedule,
        reused_runner,
        silent_death,
        spot_warning,
        swap,
    )
}
ORDERS = 60
# See docs/adr/0001-machines-and-assignments.md for the reasons.
ORDER_OF_PROCESSING = {
    JOBS: frozenset({"inputs", "version", "last_updated_at", "ttl", "first_seen_at", "org_name"}),
    EVENTS: frozenset({"changes", "status"}),
    RUNS: frozenset({"status", "ttl", "created_at"}),
    RUNNERS: frozenset({"version", "assignments", "ttl", "confirmed_at"}),
}
MACHINE_LINES = (
    "runner_attached",
    "runner_rebalance_recommended",
    "runner_interrupted",
    "runner_terminated",
    "runner_taken",
)

every_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


def undisturbed(*flows: Flow) -> Outcome:
    return play(World(), {"A": in_order(*flows, look_up_all)})


def with_lookups(order: tuple[Flow, ...], dice: random.Random) -> Iterator[tuple[Flow, ...]]:
    """At once, at the end, and at one point in between."""
    yield tuple(each for flow in order for each in (flow, look_up_all))
    yield order
    place = dice.randint(1, len(order))
    yield (*order[:place], look_up_all, *order[place:])


def differences(outcome: Outcome, expected: Outcome) -> list[str]:
    return [
        line
        for line in outcome.differences(expected.tables, ORDER_OF_PROCESSING)
        if not any(f"#{name}#" in line for name in MACHINE_LINES)
    ]


def found(outcome: Outcome, table: str) -> Mapping[str, dict[str, Any]]:
    return {key[0]: from_attributes(item) for key, item in outcome.tables[table].items()}


def mistakes(outcome: Outcome, scenario: Scenario) -> list[str]:
    jobs, machines = found(outcome, JOBS), found(outcome, RUNNERS)
    wrong = [
        f"job {job_id}: {name} is {jobs[f'{INSTALLATION}#{job_id}'].get(name)!r}, expected {value!r}"
        for job_id, attributes in scenario.jobs.items()
        for name, value in attributes.items()
        if jobs[f"{INSTALLATION}#{job_id}"].get(name) != value
    ]
    return wrong + [
        f"machine {machine}: {name} is {machines[machine].get(name)!r}, expected {value!r}"
        for machine, attributes in scenario.machines.items()
        for name, value in attributes.items()
        if machines[machine].get(name) != value
    ]


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
    for names in all_orders(tuple(scenario.inputs), limit=8, seed=11):
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
    for names in all_orders(tuple(scenario.inputs), limit=3, seed=5):
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
        start = world.save()
        for outcome in islice(interleavings(world, scenario.inputs[one], scenario.inputs[other], limit=24), 24):
            # The world is as the play left it until the next one begins.
            ended = play(world, {"lookups": look_up_all})
            assert not mistakes(ended, scenario), f"{one}, {other}\n{outcome.story()}\n{ended.story()}"
        world.restore(start)


@every_scenario
def test_a_lookup_beside_any_input_ends_as_expected(scenario: Scenario) -> None:
    names = tuple(scenario.inputs)
    for last in names:
        world = after(tuple(name for name in names if name != last), scenario)
        messages = tuple(dict.fromkeys(world.queues.take(LOOKUPS)))
        for message in messages:
            for outcome in interleavings(world, look_up(message), scenario.inputs[last], limit=24):
                ended = play(world, {"lookups": in_order(*map(look_up, messages), look_up_all)})
                assert not mistakes(ended, scenario), f"{last}\n{outcome.story()}\n{ended.story()}"
