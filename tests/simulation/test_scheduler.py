"""Plays are repeatable, complete within their limits, and disturbed as their choices require."""

import math
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from tests.simulation.calls import Fault, Step
from tests.simulation.choices import Choices, seeded
from tests.simulation.explore import NAMES, Flow, FlowFailed, Outcome, crash_points, explore, interleavings, play
from tests.simulation.job_life import STEPS, record
from tests.simulation.random_worlds import random_world
from tests.simulation.scheduler import Limits
from tests.simulation.world import Process, World
from tests.support.ledgers import JOBS


def key(name: str) -> dict[str, Any]:
    return {"PK": {"S": name}, "SK": {"S": "v"}}


def puts(name: str, calls: int) -> Flow:
    def flow(process: Process) -> None:
        for number in range(calls):
            item = key(name) | {"number": {"N": str(number)}}
            process.world.client("dynamodb").put_item(TableName=JOBS, Item=item)

    return flow


def adds(process: Process) -> Any:
    return process.world.client("dynamodb").update_item(
        TableName=JOBS,
        Key=key("counter"),
        UpdateExpression="ADD amount :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
    )


def total(outcome: Outcome) -> int:
    item = outcome.tables[JOBS].get(("counter", "v"))
    return int(item["amount"]["N"]) if item else 0


def order(outcome: Outcome) -> str:
    return "".join(step.task for step in outcome.steps if isinstance(step, Step))


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 3), (4, 4)])
def test_unlimited_preemptions_give_every_interleaving(first: int, second: int) -> None:
    outcomes = list(interleavings(World(), puts("a", first), puts("b", second), preemptions=99))
    orders = {order(outcome) for outcome in outcomes}
    assert len(orders) == len(outcomes) == math.comb(first + second, first)


def test_one_preemption_gives_each_place_at_which_the_other_task_may_come_between() -> None:
    orders = {order(outcome) for outcome in interleavings(World(), puts("a", 3), puts("b", 2), preemptions=1)}
    assert orders == {"AAABB", "ABBAA", "AABBA", "BBAAA", "BAAAB"}


def test_a_limit_bounds_the_plays_and_half_of_them_are_random() -> None:
    flows = (puts("a", 8), puts("b", 8))
    limited = [order(outcome) for outcome in interleavings(World(), *flows, preemptions=9, limit=60)]
    again = [order(outcome) for outcome in interleavings(World(), *flows, preemptions=9, limit=60)]
    assert len(limited) == 60
    assert limited == again
    assert len(set(limited)) > 40


def test_the_same_choices_are_the_same_play() -> None:
    flows = dict(zip(NAMES, map(record, STEPS), strict=False))
    limits = Limits(preemptions=6, faults=3, kinds=tuple(Fault), stale_reads=2)
    for seed in range(20):
        one = play(World(), flows, Choices(dice=seeded(seed)), limits)
        other = play(World(), flows, Choices(one.choices), limits)
        assert one.story() == other.story()
        assert one.tables == other.tables


def test_a_world_follows_from_its_seed_and_number() -> None:
    assert random_world(3, 4).outcome.story() == random_world(3, 4).outcome.story()
    assert random_world(3, 4).outcome.story() != random_world(3, 5).outcome.story()


def test_each_fault_has_its_effect() -> None:
    undisturbed, *faulty = explore(World(), {"A": adds}, Limits(faults=1, kinds=tuple(Fault)))
    by_fault = {outcome.steps[0].fault: outcome for outcome in faulty if isinstance(outcome.steps[0], Step)}
    assert total(undisturbed) == 1
    # What failed was tried again: an effect before its failure counts twice here, for nothing guards this counter.
    assert {fault: total(outcome) for fault, outcome in by_fault.items()} == {
        Fault.THROTTLED: 1,
        Fault.REFUSED: 1,
        Fault.UNREACHABLE: 1,
        Fault.RESPONSE_LOST: 2,
        Fault.SENT_TWICE: 2,
        Fault.KILLED_BEFORE: 1,
        Fault.KILLED_AFTER: 2,
    }
    assert isinstance(by_fault[Fault.THROTTLED].results["A"].error, ClientError)
    assert isinstance(by_fault[Fault.RESPONSE_LOST].results["A"].error, ReadTimeoutError)
    assert not by_fault[Fault.SENT_TWICE].results["A"].failed


def test_a_dead_process_has_no_effect_any_more() -> None:
    def tidy(process: Process) -> None:
        try:
            puts("a", 1)(process)
        finally:
            adds(process)

    *_, before, after = crash_points(World(), tidy)  # at the first call, before `finally`
    assert (total(before), total(after)) == (1, 1)  # by the second try alone


def test_a_given_recovery_follows_a_crash_and_nothing_else() -> None:
    undisturbed, *crashed = crash_points(World(), puts("a", 2), recover=adds)
    assert total(undisturbed) == 0
    assert [total(outcome) for outcome in crashed] == [1] * 4


def test_a_flow_that_fails_undisturbed_is_an_error_with_its_story() -> None:
    def fails(process: Process) -> None:
        adds(process)
        raise ValueError("a bug")

    with pytest.raises(FlowFailed, match=r"a bug[\s\S]*A call 1: update_item workflow_jobs counter"):
        play(World(), {"A": fails})


def test_sleeping_lets_others_run_and_takes_no_time() -> None:
    world = World()
    began = world.clock.now()

    def sleeper(process: Process) -> None:
        process.world.scheduler.sleep(3600)
        puts("a", 1)(process)

    outcome = play(world, {"A": sleeper, "B": puts("b", 2)})
    assert order(outcome) == "BBA"
    assert world.clock.now() - began == 3600


def test_a_stale_read_misses_the_last_writes_and_a_consistent_one_does_not() -> None:
    world = World()
    puts("a", 2)(world.process())

    def reads(process: Process) -> list[str]:
        client = process.world.client("dynamodb")
        responses = [client.get_item(TableName=JOBS, Key=key("a"), ConsistentRead=each) for each in (False, True)]
        return [response["Item"]["number"]["N"] if "Item" in response else "absent" for response in responses]

    outcomes = explore(world, {"A": reads}, Limits(stale_reads=1))
    assert [outcome.results["A"].value for outcome in outcomes] == [["1", "1"], ["0", "1"], ["absent", "1"]]


def test_a_hundred_random_worlds_hold() -> None:
    for number in range(100):
        played = random_world(1, number)
        assert not played.violations, f"{played.name}\n{played.violations}\n{played.outcome.story()}"
