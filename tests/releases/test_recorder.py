"""Crashes at every call, and races of two batches: the heads end as if nothing had happened."""

from collections.abc import Sequence
from typing import Any

import pytest
from runledger.model.errors import ContendedError
from runledger.releases.recorder import TRIES, HeadRecorder
from runledger.tables.heads import HeadsTable

from tests.feeds.test_writer import FeedWorld
from tests.releases.scenes import (
    MAIN,
    PRODUCTION,
    deployment,
    empty_engine,
    ended,
    heads_table,
    recorder,
    releases,
    run,
    snapshot,
)
from tests.simulation.explore import Flow, crash_points, fault_points, interleavings, play
from tests.simulation.world import Process

GREEN, RED = "success", "failure"
BEFORE = [run(1, GREEN), run(2, RED), deployment(1, "a", succeeded_at=1)]
BATCHES: dict[str, Sequence[dict[str, Any]]] = {
    "the next run": [run(3, GREEN)],
    "a late run and its attempts": [run(2, GREEN, attempt=2), run(1, RED, attempt=2)],
    "deployments": [deployment(2, "b", succeeded_at=2), deployment(1, "a", succeeded_at=1, inactive_at=2)],
}
RACES = {
    "two runs": ([run(3, GREEN)], [run(4, RED)]),
    "two attempts of the newest run": ([run(3, RED)], [run(3, GREEN, attempt=2)]),
    "a run and its next attempt": ([run(3, RED), run(3, attempt=2)], [run(3, GREEN, attempt=2), run(4)]),
    "a late run": ([run(4, RED)], [run(3, GREEN)]),
    "two deployments": ([deployment(2, "b", succeeded_at=2)], [deployment(3, "c", succeeded_at=3)]),
    "a rollback": ([deployment(2, "b", succeeded_at=2)], [deployment(3, "a", succeeded_at=3)]),
}


def recording(changes: Sequence[dict[str, Any]]) -> Flow:
    def flow(process: Process) -> None:
        heads = recorder(process.world.client("dynamodb"))
        heads.record_runs(each for each in changes if "run_number" in each or "workflow_id" in each)
        heads.record_deployments(each for each in changes if "deployment_id" in each)

    return flow


def world_with(changes: Sequence[dict[str, Any]]) -> FeedWorld:
    world = FeedWorld()
    play(world, {"before": recording(changes)})
    return world


@pytest.mark.walk
@pytest.mark.parametrize("points", [crash_points, fault_points])
@pytest.mark.parametrize("batch", BATCHES)
def test_a_batch_that_dies_or_fails_anywhere_and_is_repeated_ends_alike(points: Any, batch: str) -> None:
    expected = ended(empty_engine(), [*BEFORE, *BATCHES[batch]])
    outcomes = list(points(world_with(BEFORE), recording(BATCHES[batch])))
    assert len(outcomes) >= 4
    for outcome in outcomes:
        assert releases(outcome.tables) == expected, outcome.story()


@pytest.mark.walk
@pytest.mark.parametrize("race", RACES)
def test_two_batches_at_the_same_time_end_alike(race: str) -> None:
    one, other = RACES[race]
    expected = ended(empty_engine(), [*BEFORE, *one, *other])
    outcomes = list(interleavings(world_with(BEFORE), recording(one), recording(other), preemptions=2))
    assert len(outcomes) > 10
    for outcome in outcomes:
        assert releases(outcome.tables) == expected, outcome.story()


def test_a_head_is_not_written_over_a_newer_version() -> None:
    engine = empty_engine()
    ended(engine, [run(1, GREEN)])
    table, before = heads_table(engine), snapshot(engine)
    head = {"last_run": {"run_id": 9}, "state": "red"}
    assert not table.save_head(MAIN, head, version=0)
    assert not table.save_head(MAIN, head, version=2)
    assert snapshot(engine) == before
    assert table.save_head(MAIN, head, version=1)


def test_an_environment_is_not_written_over_a_newer_version() -> None:
    engine = empty_engine()
    ended(engine, [deployment(1, succeeded_at=1)])
    table, before = heads_table(engine), snapshot(engine)
    assert not table.save_environment(PRODUCTION, {"is_active": False}, version=0)
    assert snapshot(engine) == before


class AlwaysLate(HeadsTable):
    def save_head(self, *_: Any, **__: Any) -> bool:
        return False

    def save_environment(self, *_: Any, **__: Any) -> bool:
        return False


@pytest.mark.parametrize("change", [run(1, GREEN), deployment(1)], ids=["head", "environment"])
def test_a_head_that_is_changed_too_often_is_left_to_the_repeated_batch(change: dict[str, Any]) -> None:
    late = HeadRecorder(table=AlwaysLate(empty_engine(), "releases", retention_days=90))  # type: ignore[arg-type]
    record = late.record_deployments if "deployment_id" in change else late.record_runs
    with pytest.raises(ContendedError, match=f"after {TRIES} concurrent changes"):
        record([change])


def test_a_repeated_batch_writes_no_head() -> None:
    engine = empty_engine()
    changes = [run(1, GREEN), run(2, RED)]
    ended(engine, changes)
    (before,) = heads_table(engine).default_heads(7, limit=10).items
    ended(engine, changes)
    (after,) = heads_table(engine).default_heads(7, limit=10).items
    assert before == after
