"""Scenarios with a crash at every call, and with every two inputs at once. Each play comes with its violations."""

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, count, permutations

from tests.simulation.calls import CRASHES
from tests.simulation.choices import seeded
from tests.simulation.explore import (
    Outcome,
    all_orders,
    crash_points,
    in_order,
    interleavings,
    killed,
    play,
    retry,
)
from tests.simulation.histories import broken_histories
from tests.simulation.machine_inputs import LOOKUPS, look_up, look_up_all
from tests.simulation.scenario import Scenario
from tests.simulation.scenario_checks import undisturbed, violations
from tests.simulation.world import World
from tests.support.ledgers import DEPLOYMENTS

# A job that joins its gate again may write the time of the last write.
LAST_WRITTEN = {DEPLOYMENTS: frozenset({"checked_at", "ttl"})}
RANDOM_CALLS = 8  # among so many, one is chosen
Played = Iterator[tuple[Outcome, list[str]]]


def crashes(scenario: Scenario, *, orders: int, seed: int) -> Played:
    """Crashes before and after each call of each input and lookup, followed by a retry."""
    for names in all_orders(tuple(scenario.inputs), limit=orders, seed=seed):
        for place in range(len(names)):
            world = _after(names[:place], scenario)
            waiting = world.queues.take(LOOKUPS)
            for flow in (*map(look_up, waiting), scenario.inputs[names[place]]):
                expected, *crashed = crash_points(world, flow)
                for outcome in crashed:
                    differences = outcome.differences(expected.tables, LAST_WRITTEN)
                    yield outcome, [*differences, *broken_histories(outcome.tables)]
                play(world, {"A": flow})


def crashes_twice(scenario: Scenario, *, limit: int | None, seed: int) -> Played:
    """A crash at each call of an input, then another input, then a crash at each call of the retry, and a retry.

    All the other inputs come before. With a `limit`, so many pairs of inputs, each with two crashes at random.
    """
    expected, dice = undisturbed(*scenario.inputs.values()), seeded(seed)
    pairs = list(permutations(scenario.inputs, 2))
    for first, second in pairs if limit is None else dice.sample(pairs, min(limit, len(pairs))):
        world = _after(tuple(name for name in scenario.inputs if name not in (first, second)), scenario)
        flow, start = scenario.inputs[first], world.save()
        for point in _points(None if limit is None else dice):
            world.restore(start)
            was_killed, story = killed(world, flow, *point)
            if not was_killed:
                break
            play(world, {"between": scenario.inputs[second]})
            between = world.save()
            for again in _points(None if limit is None else dice):
                world.restore(between)
                was_killed, recovery = killed(world, flow, *again, retries=True)
                last = retry(world, flow) if was_killed else []
                ended = play(world, {"lookups": look_up_all})
                steps = [*story, f"then {second}", *recovery, *last, *ended.steps]
                yield replace(ended, steps=steps), violations(ended, scenario, expected)
                if not was_killed:
                    break


def _points(dice: random.Random | None) -> Iterator[tuple[int, int]]:
    """The numbers of calls, each with both kinds of crashes; or one of them at random."""
    if dice is None:
        yield from ((call, kind) for call in count(1) for kind in range(len(CRASHES)))
    else:
        yield dice.randint(1, RANDOM_CALLS), dice.randrange(len(CRASHES))


def races(scenario: Scenario, *, limit: int) -> Played:
    """Every two inputs at once, after all the others: `limit` interleavings of their calls, or all if fewer."""
    names, expected = tuple(scenario.inputs), undisturbed(*scenario.inputs.values())
    for pair in combinations(names, 2):
        world = _after(tuple(name for name in names if name not in pair), scenario)
        for outcome in interleavings(world, *(scenario.inputs[name] for name in pair), limit=limit):
            # The world is as the play left it until the next one begins.
            ended = play(world, {"lookups": look_up_all})
            yield outcome, violations(ended, scenario, expected)


def races_with_lookups(scenario: Scenario, *, limit: int) -> Played:
    """Races, as in `races`, between each input and each lookup that waits."""
    names, expected = tuple(scenario.inputs), undisturbed(*scenario.inputs.values())
    for last in names:
        world = _after(tuple(name for name in names if name != last), scenario)
        messages = tuple(dict.fromkeys(world.queues.take(LOOKUPS)))
        for message in messages:
            for outcome in interleavings(world, look_up(message), scenario.inputs[last], limit=limit):
                ended = play(world, {"lookups": in_order(*map(look_up, messages), look_up_all)})
                yield outcome, violations(ended, scenario, expected)


def _after(names: tuple[str, ...], scenario: Scenario) -> World:
    world = World()
    play(world, {"past": in_order(*(scenario.inputs[name] for name in names))})
    return world
