"""A guessed end never replaces a reported one, and a run's counters follow the conclusions of its jobs."""

from itertools import permutations
from typing import Any

import pytest
from runledger.model.inputs import EventType, Facts, Receipt, Source, Status
from runledger.reconciliation import healing
from runledger.tables.attributes import from_attributes

from tests.simulation.explore import Flow, crash_points, in_order, interleavings, play
from tests.simulation.world import Process, World
from tests.support.ledgers import JOBS, RUNS
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, JOB, QUEUED, RUN, receipt

NOW = "2025-01-15T11:00:00.000Z"
LIFE = [receipt(QUEUED), receipt(IN_PROGRESS, at=150)]


def ended(conclusion: str) -> Receipt:
    return receipt(COMPLETED, at=770, conclusion=conclusion)


def recording(received: Receipt) -> Flow:
    return lambda process: process.ledger.record(received)


def close(process: Process) -> None:
    """The pass read the job while it was open."""
    job = process.ledger.jobs.get(INSTALLATION, JOB, consistent=True)
    assert job is not None
    process.ledger.record(healing.closed_job(job, now=NOW))


def started_world() -> World:
    world = World()
    play(world, {"past": in_order(*map(recording, LIFE))})
    return world


def job(world: World) -> dict[str, Any]:
    return from_attributes(world.engine.snapshot().items[JOBS][f"{INSTALLATION}#{JOB}", "v"])


def counters(world: World, attempt: int = 1) -> tuple[int, int, int]:
    run = from_attributes(world.engine.snapshot().items[RUNS][f"{INSTALLATION}#{RUN}#{attempt}", "v"])
    return run["total_jobs"], run["completed_jobs"], run["failed_jobs"]


@pytest.mark.parametrize(("conclusion", "failed"), [("success", 0), ("failure", 1)])
def test_the_reported_end_stays_whether_the_guess_comes_before_or_after(conclusion: str, failed: int) -> None:
    for order in permutations([recording(ended(conclusion)), close]):
        world = started_world()
        play(world, {"A": in_order(*order)})
        found = job(world)
        assert (found["conclusion"], found["completed_at"]) == (conclusion, "2025-01-15T10:12:45.000Z")
        assert counters(world) == (1, 1, failed)


@pytest.mark.parametrize(("conclusion", "failed"), [("success", 0), ("failure", 1)])
def test_a_guess_at_the_same_time_neither_wins_nor_miscounts(conclusion: str, failed: int) -> None:
    world = started_world()
    for outcome in interleavings(world, recording(ended(conclusion)), close, stale_reads=1, limit=600):
        tables = outcome.tables
        found = from_attributes(tables[JOBS][f"{INSTALLATION}#{JOB}", "v"])
        run = from_attributes(tables[RUNS][f"{INSTALLATION}#{RUN}#1", "v"])
        assert found["conclusion"] == conclusion, outcome.story()
        assert (run["completed_jobs"], run["failed_jobs"]) == (1, failed), outcome.story()


def test_a_guess_alone_closes_the_job() -> None:
    world = started_world()
    play(world, {"A": close})
    assert (job(world)["status"], job(world)["conclusion"]) == ("completed", "cancelled")
    assert counters(world) == (1, 1, 0)


@pytest.mark.parametrize(("first", "then", "failed"), [("cancelled", "failure", 1), ("failure", "success", 0)])
def test_a_corrected_conclusion_is_counted_again_also_after_a_crash(first: str, then: str, failed: int) -> None:
    world = started_world()
    play(world, {"A": recording(ended(first))})
    corrected = receipt(COMPLETED, at=800, guid="correction", conclusion=then)
    for outcome in crash_points(world, recording(corrected)):
        run = from_attributes(outcome.tables[RUNS][f"{INSTALLATION}#{RUN}#1", "v"])
        assert (run["total_jobs"], run["completed_jobs"], run["failed_jobs"]) == (1, 1, failed), outcome.story()
        assert ("failed_job_ids" in run) == bool(failed)


def receipt_of_launcher() -> Receipt:
    """It names the run, but not its attempt."""
    return Receipt(
        installation_id=INSTALLATION,
        job_id=JOB,
        delivery_id="scheduled",
        received_at="2025-01-15T10:00:30.000Z",
        event_type=EventType.RUNNER_SCHEDULED,
        source=Source.INTERNAL,
        status=Status.SCHEDULED,
        facts=Facts(run_id=RUN, scheduled_at="2025-01-15T10:00:30.000Z", instance_id="i-1"),
    )


def test_a_job_is_counted_when_the_attempt_of_its_run_is_known() -> None:
    second = receipt(QUEUED, run_attempt=2)
    scheduled = receipt_of_launcher()
    for order in permutations([recording(second), recording(scheduled)]):
        world = World()
        play(world, {"A": in_order(*order)})
        assert world.engine.snapshot().items[RUNS].keys() == {(f"{INSTALLATION}#{RUN}#2", "v")}
        assert counters(world, attempt=2) == (1, 0, 0)
        assert job(world)["by_run"] == f"{INSTALLATION}#{RUN}#2"
