"""A cleanup that fails after it found the end of a machine: the jobs get the end, and no event is left behind."""

from typing import Any

from runledger.model.runner import RunnerStatus
from runledger.model.suspicion import Reason
from runledger.tables.attributes import from_attributes
from runledger.tables.cleanups import CleanupLocks

from tests.simulation.calls import CRASHES, ERRORS
from tests.simulation.explore import Flow, fault_points, in_order, play
from tests.simulation.histories import broken_histories
from tests.simulation.machine_inputs import FIRST, ONE, clock, scheduled, state
from tests.simulation.scenario import job_key
from tests.simulation.world import Process, World
from tests.support.ledgers import JOBS, RUNNERS


def suspect(process: Process) -> None:
    process.runners.table.suspect(ONE, at=clock(3), reason=Reason.INSTANCE_STOPPED)


def clean(process: Process) -> None:
    locks = CleanupLocks(process.world.client("dynamodb"), RUNNERS)
    assert locks.acquire(ONE, suspected_at=clock(3), owner="pass", at=clock(10))
    process.runners.record_cleaned(ONE, at=clock(10), reason="reconciled: instance_stopped")


def next_pass(process: Process) -> None:
    """Resumes the cleanup if one is left. No message is delivered again."""
    tracker = process.world.process().runners
    runner = tracker.table.get(ONE)
    assert runner is not None
    if runner.is_ending:
        tracker.resume_cleanup(runner)


def first_attempt(flow: Flow) -> Flow:
    return lambda process: flow(process.world.process())


def assigned() -> World:
    world = World()
    play(world, {"past": in_order(scheduled(FIRST, ONE, 1), state(ONE, "running", 2), suspect)})
    return world


def stored(tables: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return from_attributes(tables[JOBS][job_key(FIRST), "v"]), from_attributes(tables[RUNNERS][ONE, "v"])


def test_the_next_pass_finishes_a_cleanup_although_an_earlier_end_was_reported() -> None:
    resumed = 0
    earlier = first_attempt(state(ONE, "stopping", 9))
    for outcome in fault_points(assigned(), clean, recover=in_order(earlier, next_pass), kinds=(*CRASHES, *ERRORS)):
        job, runner = stored(outcome.tables)
        assert not broken_histories(outcome.tables), outcome.story()
        assert runner["status"] == RunnerStatus.CLEANED, outcome.story()
        assert job["terminated_at"] == runner["terminated_at"], outcome.story()
        resumed += job["terminated_at"] == clock(9)
    assert resumed > 10


def test_a_machine_that_starts_again_finishes_the_cleanup_of_its_last_life() -> None:
    ended = 0
    again = first_attempt(state(ONE, "running", 11))
    for outcome in fault_points(assigned(), clean, recover=in_order(again, next_pass), kinds=(*CRASHES, *ERRORS)):
        job, runner = stored(outcome.tables)
        assert not broken_histories(outcome.tables), outcome.story()
        is_known = any(" ended " in each for each in runner["occurrences"])
        assert job.get("terminated_at") == (clock(10) if is_known else None), outcome.story()
        if is_known and runner["attached_at"] == clock(11):
            assert runner["status"] == RunnerStatus.ACTIVE, outcome.story()
            ended += 1
    assert ended > 10
