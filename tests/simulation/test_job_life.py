"""All webhooks of one job, in every order, with duplicates, crashes, faults and races, end in the same tables."""

from itertools import combinations_with_replacement

import pytest

from tests.simulation.differences import NOTHING
from tests.simulation.explore import (
    all_orders,
    crash_points,
    fault_points,
    in_order,
    interleavings,
    play,
    with_duplicates,
)
from tests.simulation.job_life import (
    ORDER_OF_ARRIVAL,
    PARTS_OF_THE_FIRST,
    STEPS,
    record,
    redelivering,
    undisturbed,
)
from tests.simulation.world import World
from tests.support.webhooks import COMPLETED, IN_PROGRESS, QUEUED

PASTS = {
    QUEUED: [(), (QUEUED,), (COMPLETED,), STEPS],
    IN_PROGRESS: [(), (QUEUED,), (QUEUED, IN_PROGRESS), (COMPLETED,)],
    COMPLETED: [(), (QUEUED,), (QUEUED, IN_PROGRESS), STEPS],
}
DELIVERIES = [(past, step) for step, pasts in PASTS.items() for past in pasts]


def world_after(past: tuple[str, ...]) -> World:
    world = World()
    play(world, {"past": redelivering(past)})
    return world


@pytest.mark.parametrize("order", list(all_orders(STEPS)), ids="-".join)
def test_every_order_ends_in_the_same_tables(order: tuple[str, ...]) -> None:
    once = undisturbed(redelivering(STEPS)).tables
    twice = undisturbed(redelivering([*STEPS, *STEPS])).tables
    for steps in with_duplicates(order):
        outcome = undisturbed(redelivering(steps))
        expected = once if len(steps) == len(STEPS) else twice
        assert not outcome.differences(expected, ORDER_OF_ARRIVAL), outcome.story()


@pytest.mark.parametrize("order", list(all_orders(STEPS)), ids="-".join)
def test_our_own_retries_change_nothing_at_all(order: tuple[str, ...]) -> None:
    expected = undisturbed(*(record(step) for step in order)).tables
    for steps in with_duplicates(order):
        outcome = undisturbed(*(record(step) for step in steps))
        assert not outcome.differences(expected), outcome.story()


@pytest.mark.parametrize(("past", "step"), DELIVERIES)
def test_a_crash_at_any_call_and_a_retry_leave_the_tables_of_no_crash(past: tuple[str, ...], step: str) -> None:
    undisturbed, *crashed = crash_points(world_after(past), record(step, again=9))
    assert len(crashed) == 2 * undisturbed.calls
    for outcome in crashed:
        assert not outcome.differences(undisturbed.tables), outcome.story()


@pytest.mark.parametrize(("past", "step"), DELIVERIES)
def test_a_fault_at_any_call_and_a_retry_leave_the_tables_of_no_fault(past: tuple[str, ...], step: str) -> None:
    undisturbed, *faulty = fault_points(world_after(past), record(step, again=9))
    assert len(faulty) >= undisturbed.calls
    for outcome in faulty:
        assert not outcome.differences(undisturbed.tables), outcome.story()


@pytest.mark.parametrize(("one", "other"), list(combinations_with_replacement(STEPS, 2)))
def test_two_deliveries_at_once_end_as_if_one_had_come_after_the_other(one: str, other: str) -> None:
    first, second = record(one), record(other, again=1)
    orders = [undisturbed(first, second).tables, undisturbed(second, first).tables]
    plays = 0
    for outcome in interleavings(World(), first, second, stale_reads=1):
        differing = [outcome.differences(tables, PARTS_OF_THE_FIRST) for tables in orders]
        assert not all(differing), f"{differing}\n{outcome.story()}"
        plays += 1
    assert plays > 40


def test_three_deliveries_at_once_end_in_the_tables_of_their_job() -> None:
    expected = undisturbed(in_order(*map(record, STEPS))).tables
    for outcome in interleavings(World(), *map(record, STEPS), preemptions=2, limit=400):
        assert not outcome.differences(expected, ORDER_OF_ARRIVAL), outcome.story()


def test_differences_are_found_without_an_ignore_list() -> None:
    backwards = undisturbed(redelivering(STEPS[::-1]))
    assert backwards.differences(undisturbed(redelivering(STEPS)).tables, NOTHING)
