"""Every story ends in the same tables: in any order, with duplicates, after a crash, and when two inputs meet."""

from itertools import pairwise

import pytest
from runledger.model import Receipt
from runledger.reports import Report

from tests.ledgers import DEPLOYMENTS
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
from tests.simulation.scenarios.gates_and_runs import ORDER_OF_PROCESSING, STORIES, inputs
from tests.simulation.test_histories import check_history
from tests.simulation.world import World

ORDERS, INTERLEAVINGS = 150, 40
Input = Receipt | Report
# The time of the last write, and a job that joins its gate again may write it.
LAST_WRITTEN = {DEPLOYMENTS: frozenset({"checked_at", "ttl"})}


def taking(received: Input) -> Flow:
    return lambda process: process.ledger.take(received)


def played(*received: Input) -> Outcome:
    return play(World(), {"A": in_order(*map(taking, received))})


@pytest.mark.parametrize("story", STORIES)
def test_every_order_ends_in_the_same_tables(story: str) -> None:
    expected = played(*inputs(story)).tables
    for order in all_orders(inputs(story), limit=ORDERS):
        outcome = played(*order)
        assert not outcome.differences(expected, ORDER_OF_PROCESSING), outcome.story()
        check_history(outcome.tables)


@pytest.mark.parametrize("story", STORIES)
def test_our_own_retries_change_nothing_in_any_order(story: str) -> None:
    expected = played(*inputs(story)).tables
    for order in all_orders(inputs(story), limit=ORDERS // 10):
        for repeated in with_duplicates(order):
            outcome = played(*repeated)
            assert not outcome.differences(expected, ORDER_OF_PROCESSING), outcome.story()


@pytest.mark.parametrize("story", STORIES)
def test_a_crash_at_any_call_and_a_retry_end_in_the_same_tables(story: str) -> None:
    received = inputs(story)
    for place, each in enumerate(received):
        world = World()
        play(world, {"past": in_order(*map(taking, received[:place]))})
        undisturbed, *crashed = crash_points(world, taking(each))
        for outcome in crashed:
            assert not outcome.differences(undisturbed.tables, LAST_WRITTEN), outcome.story()
            check_history(outcome.tables)


@pytest.mark.parametrize("story", STORIES)
def test_two_inputs_that_meet_end_in_the_tables_of_one_after_the_other(story: str) -> None:
    received = inputs(story)
    for place, (one, other) in enumerate(pairwise(received)):
        world = World()
        play(world, {"past": in_order(*map(taking, received[:place]))})
        start = world.save()
        expected = play(world, {"A": in_order(taking(one), taking(other))}).tables
        world.restore(start)
        for outcome in interleavings(world, taking(one), taking(other), limit=INTERLEAVINGS):
            assert not outcome.differences(expected, ORDER_OF_PROCESSING), outcome.story()
            check_history(outcome.tables)
