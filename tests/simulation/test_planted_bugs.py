"""The harness finds bugs: each one planted here breaks a rule of the write protocol."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.simulation import random_worlds
from tests.simulation.__main__ import simulate
from tests.simulation.explore import Outcome, crash_points, in_order, interleavings
from tests.simulation.job_life import ORDER_OF_ARRIVAL, PARTS_OF_THE_FIRST, STEPS, record, undisturbed
from tests.simulation.world import World
from tests.support.ledgers import EVENTS, JOBS, RUNS
from tests.support.webhooks import COMPLETED, IN_PROGRESS, QUEUED

Arguments = dict[str, Any]


class Tampered:
    """A DynamoDB client that alters requests."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, operation: str) -> Any:
        return getattr(self._client, operation)


class Unconditional(Tampered):
    """Conditions on one table always hold."""

    table = ""

    def put_item(self, **arguments: Any) -> Any:
        return self._client.put_item(**self._weakened(arguments))

    def update_item(self, **arguments: Any) -> Any:
        return self._client.update_item(**self._weakened(arguments))

    def _weakened(self, arguments: Arguments) -> Arguments:
        if arguments["TableName"] != self.table or "ConditionExpression" not in arguments:
            return arguments
        condition = f"({arguments['ConditionExpression']}) OR attribute_exists(PK) OR attribute_not_exists(PK)"
        return arguments | {"ConditionExpression": condition}


class UnconditionalJobs(Unconditional):
    table = JOBS


class UnguardedCounters(Unconditional):
    table = RUNS


class StateBeforeHistory(Tampered):
    """A history event is written after the job that it belongs to."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self._held: list[Arguments] = []

    def put_item(self, **arguments: Any) -> Any:
        if arguments["TableName"] == EVENTS:
            self._held.append(arguments)
            return {}
        return self._then_history(self._client.put_item, arguments)

    def update_item(self, **arguments: Any) -> Any:
        return self._then_history(self._client.update_item, arguments)

    def _then_history(self, write: Callable[..., Any], arguments: Arguments) -> Any:
        response = write(**arguments)
        key = arguments.get("Key") or arguments["Item"]
        if arguments["TableName"] == JOBS and key["SK"] == {"S": "v"}:
            while self._held:
                self._client.put_item(**self._held.pop(0))
        return response


def plant(monkeypatch: pytest.MonkeyPatch, bug: type[Tampered]) -> None:
    client = World.client
    monkeypatch.setattr(
        World, "client", lambda world, name: bug(client(world, name)) if name == "dynamodb" else client(world, name)
    )


def wrong_races() -> list[Outcome]:
    first, second = record(IN_PROGRESS), record(COMPLETED)
    orders = [undisturbed(first, second).tables, undisturbed(second, first).tables]
    plays = interleavings(World(), first, second)
    return [play for play in plays if all(play.differences(tables, PARTS_OF_THE_FIRST) for tables in orders)]


def wrong_crashes(step: str) -> list[Outcome]:
    undisturbed, *crashed = crash_points(World(), record(step))
    return [play for play in crashed if play.differences(undisturbed.tables)]


def wrong_races_of_three() -> list[Outcome]:
    expected = undisturbed(in_order(*map(record, STEPS))).tables
    plays = interleavings(World(), *map(record, STEPS), limit=100)
    return [play for play in plays if play.differences(expected, ORDER_OF_ARRIVAL)]


def wrong_worlds() -> str | None:
    """The first of them."""
    played = (random_worlds.random_world(1, number) for number in range(50))
    return next((each.name for each in played if each.violations), None)


def test_without_a_bug_nothing_is_found() -> None:
    assert not wrong_races()
    assert not wrong_crashes(QUEUED)
    assert not wrong_races_of_three()
    assert not wrong_worlds()


def test_an_unconditional_save_is_found_by_races(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, UnconditionalJobs)
    assert wrong_races()
    assert wrong_races_of_three()
    assert wrong_worlds()


def test_a_counter_without_a_guard_is_found_by_crashes(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, UnguardedCounters)
    assert wrong_crashes(QUEUED)
    assert wrong_crashes(COMPLETED)
    assert wrong_worlds()


def test_state_before_history_is_found_by_crashes(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, StateBeforeHistory)
    found = wrong_crashes(COMPLETED)
    assert any("missing" in line for line in found[0].differences(undisturbed(record(COMPLETED)).tables))
    assert wrong_worlds()


def test_a_story_shows_which_call_of_which_task_did_what(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, UnguardedCounters)
    story = wrong_crashes(COMPLETED)[0].story()
    assert "A call 1: get_item workflow_jobs" in story
    assert "[process killed" in story
    assert "A again ends: done" in story


def test_simulate_stops_at_a_violation_with_its_story_and_how_to_replay_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simulate(seed=1, seconds=0) == 0
    assert " 0 violations" in capsys.readouterr().out
    plant(monkeypatch, UnguardedCounters)
    assert simulate(seed=1, seconds=60) == 1
    printed = capsys.readouterr().out
    assert "total_jobs is" in printed
    assert "To play it again: python -m tests.simulation --seed 1 --world" in printed
