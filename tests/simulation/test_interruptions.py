"""Whether a run may be re-run follows from its jobs as they are, not from what was once believed of them."""

from itertools import permutations

import pytest
from runledger.model.inputs import EventType, Facts, Receipt, Source
from runledger.reconciliation import healing
from runledger.tables.attributes import from_attributes

from tests.simulation.calls import CRASHES, ERRORS
from tests.simulation.explore import Flow, Outcome, fault_points, in_order, interleavings, play
from tests.simulation.histories import broken_histories
from tests.simulation.machine_inputs import (
    FIRST,
    ONE,
    OTHER,
    clock,
    completed,
    queued,
    scheduled,
    started,
    state,
    warned,
)
from tests.simulation.scenario import run_key
from tests.simulation.scenario_checks import undisturbed
from tests.simulation.world import Process, World
from tests.support.ledgers import RUNS
from tests.support.webhooks import INSTALLATION

FAILED_ON_ANOTHER_MACHINE = {
    "queued": queued(FIRST),
    "scheduled": scheduled(FIRST, ONE, 1),
    "warning": warned(ONE, 4),
    "rescheduled": scheduled(FIRST, OTHER, 2, again=True),
    "completed": completed(FIRST, "without-an-id", 3, 8, conclusion="failure"),
}


def interrupted_jobs(outcome: Outcome) -> set[int]:
    run = from_attributes(outcome.tables[RUNS][run_key(1), "v"])
    return set(run.get("cut_short_job_ids", ()))


def test_a_later_plan_withdraws_an_interruption() -> None:
    for order in permutations(FAILED_ON_ANOTHER_MACHINE):
        outcome = undisturbed(*(FAILED_ON_ANOTHER_MACHINE[name] for name in order))
        assert interrupted_jobs(outcome) == set(), order
        assert not broken_histories(outcome.tables), order


def test_a_name_that_leads_to_another_machine_takes_it_back() -> None:
    inputs = {
        "scheduled": scheduled(FIRST, ONE, 1),
        "warning": warned(ONE, 4),
        "started": started(FIRST, OTHER, 3),
        "completed": completed(FIRST, OTHER, 3, 8, conclusion="failure"),
    }
    for order in permutations(inputs):
        outcome = undisturbed(*(inputs[name] for name in order))
        assert interrupted_jobs(outcome) == set(), order


def test_a_corrected_conclusion_takes_it_back() -> None:
    """A guess may be corrected by a report."""
    inputs = [scheduled(FIRST, ONE, 1), warned(ONE, 4), completed(FIRST, ONE, 3, 8, conclusion="cancelled")]
    assert interrupted_jobs(undisturbed(*inputs)) == {FIRST}
    corrected = completed(FIRST, ONE, 3, 9, conclusion="success")
    assert interrupted_jobs(undisturbed(*inputs, corrected)) == set()


def close(process: Process) -> None:
    """Close a job as a pass does if GitHub doesn't have it: it ended some time before."""
    job = process.ledger.jobs.get(INSTALLATION, FIRST, consistent=True)
    assert job is not None
    process.ledger.record(healing.closed_job(job, now=clock(30)))


@pytest.mark.parametrize("reported", [8, 12])
def test_the_guess_of_a_jobs_end_calls_for_no_rerun_before_github_reports_it(reported: int) -> None:
    """The job may have failed for its own reason before its machine ended, or because of that."""
    unknown = [scheduled(FIRST, ONE, 1), started(FIRST, ONE, 3), state(ONE, "terminated", 10)]
    for order in permutations((*unknown, close)):
        if order.index(close) > order.index(unknown[1]):
            assert interrupted_jobs(undisturbed(*order)) == set()
    report = completed(FIRST, ONE, 3, reported, conclusion="failure")
    assert interrupted_jobs(undisturbed(*unknown, close, report)) == ({FIRST} if reported > 10 else set())


@pytest.mark.parametrize("meeting", ["warning", "completed"])
def test_a_race_that_is_lost_leaves_no_trace(meeting: str) -> None:
    """The loser has noted the interruption and written its line before the newer plan is saved."""
    world = World()
    past = [flow for name, flow in FAILED_ON_ANOTHER_MACHINE.items() if name not in (meeting, "rescheduled")]
    play(world, {"past": in_order(*past)})
    pair: tuple[Flow, Flow] = FAILED_ON_ANOTHER_MACHINE[meeting], FAILED_ON_ANOTHER_MACHINE["rescheduled"]
    for outcome in interleavings(world, *pair, preemptions=3, limit=400):
        assert interrupted_jobs(outcome) == set(), outcome.story()
        assert not broken_histories(outcome.tables), outcome.story()


def test_a_warning_that_is_retried_after_a_newer_plan_leaves_no_trace() -> None:
    """Its first attempt died or failed after it had noted the interruption. The retry is ignored."""
    world = World()
    past = [flow for name, flow in FAILED_ON_ANOTHER_MACHINE.items() if name not in ("warning", "rescheduled")]
    play(world, {"past": in_order(*past)})
    warning, newer_plan = FAILED_ON_ANOTHER_MACHINE["warning"], FAILED_ON_ANOTHER_MACHINE["rescheduled"]

    def recover(process: Process) -> None:
        newer_plan(process.world.process())
        warning(process)

    _, *disturbed = fault_points(world, warning, recover=recover, kinds=(*CRASHES, *ERRORS))
    for outcome in disturbed:
        if any(name.endswith("again") for name in outcome.results):
            assert interrupted_jobs(outcome) == set(), outcome.story()
        assert not broken_histories(outcome.tables), outcome.story()


def test_a_job_whose_run_becomes_known_later_is_noted_then() -> None:
    unknown = Receipt(
        installation_id=INSTALLATION,
        job_id=FIRST,
        delivery_id="known only from a launcher",
        received_at="2025-01-15T10:00:30.000Z",
        event_type=EventType.RUNNER_REQUESTED,
        source=Source.INTERNAL,
        facts=Facts(),
    )
    inputs: list[Flow] = [
        lambda process: process.ledger.record(unknown),
        scheduled(FIRST, ONE, 1),
        warned(ONE, 4),
        completed(FIRST, ONE, 3, 8, conclusion="failure"),
    ]
    for order in permutations(inputs):
        assert interrupted_jobs(undisturbed(*order)) == {FIRST}
