"""A job's history replays the job: no chain of changes is broken, and no stale line replaces a true one."""

from typing import Any

from runledger.model.inputs import EventType, Facts, Receipt, Source, Status
from runledger.model.job import INPUTS_KEPT
from runledger.tables.attributes import from_attributes

from tests.simulation.calls import CRASHES, ERRORS
from tests.simulation.explore import Flow, all_orders, crash_points, fault_points, in_order, interleavings, play
from tests.simulation.histories import broken_histories
from tests.simulation.job_life import STEPS, record
from tests.simulation.machine_inputs import FIRST, LOOKUPS, ONE, OTHER, look_up, scheduled, started, state, warned
from tests.simulation.scenario import job_key
from tests.simulation.world import World
from tests.support.ledgers import EVENTS, JOBS
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, JOB, QUEUED, receipt


def recording(received: Receipt) -> Flow:
    return lambda process: process.ledger.record(received)


def test_every_order_leaves_a_history_that_replays_the_job() -> None:
    for order in all_orders(STEPS):
        assert not broken_histories(play(World(), {"A": in_order(*map(record, order))}).tables)


def test_a_race_leaves_a_history_that_replays_the_job() -> None:
    for outcome in interleavings(World(), *map(record, STEPS), stale_reads=1, limit=250):
        assert not broken_histories(outcome.tables)


def test_the_same_receipt_in_two_processes_leaves_the_line_of_the_one_that_was_saved() -> None:
    """A queue may hand out a message twice, and the slower process may have read an old job."""
    world = World()
    play(world, {"past": record(QUEUED)})
    started = receipt(IN_PROGRESS, at=150)
    for outcome in interleavings(
        world, recording(started), recording(started), recording(receipt(COMPLETED, at=770)), stale_reads=1, limit=500
    ):
        assert not broken_histories(outcome.tables)


def test_a_crash_leaves_a_history_that_replays_the_job() -> None:
    for outcome in crash_points(World(), in_order(*map(record, STEPS))):
        assert not broken_histories(outcome.tables)


def internal(event_type: EventType, *, at: str, status: Status | None = None, **facts: Any) -> Receipt:
    return Receipt(
        installation_id=INSTALLATION,
        job_id=JOB,
        delivery_id=f"{event_type} at {at}",
        received_at=at,
        event_type=event_type,
        source=Source.INTERNAL,
        status=status,
        facts=Facts(**facts),
    )


def test_a_retry_after_many_newer_inputs_keeps_the_changes_of_the_first() -> None:
    at = "2025-01-15T10:00:30.000Z"
    planned = internal(EventType.RUNNER_SCHEDULED, at=at, status=Status.SCHEDULED, scheduled_at=at, instance_id="i-1")
    later = [
        internal(EventType.RUNNER_REQUESTED, at=f"2025-01-15T10:01:{number:02}.000Z") for number in range(INPUTS_KEPT)
    ]
    inputs = [receipt(QUEUED), planned, *later, planned]
    world = World()
    tables = play(world, {"A": in_order(*map(recording, inputs))}).tables
    job = world.process().ledger.jobs.get(INSTALLATION, JOB)
    assert job is not None
    assert job.inputs.count(planned.token) == 1, "the first was forgotten, and the retry is remembered"
    (line,) = [each for each in map(from_attributes, tables[EVENTS].values()) if each["delivery_id"].endswith(at)]
    assert line["changes"]["instance_id"] == {"to": "i-1"}
    assert not broken_histories(tables)


def test_a_message_that_fails_and_comes_again_after_a_newer_plan_replaces_its_line() -> None:
    world = World()
    play(world, {"past": scheduled(FIRST, ONE, 1)})
    end, newer_plan = state(ONE, "shutting-down", 10), scheduled(FIRST, ONE, 5, again=True)
    for outcome in fault_points(world, end, recover=in_order(newer_plan, end), kinds=(*CRASHES, *ERRORS)):
        assert not broken_histories(outcome.tables), outcome.story()


def first_attempt(flow: Flow) -> Flow:
    """The first attempt of an input that is recorded between two attempts of another one."""
    return lambda process: flow(process.world.process())


def test_a_lookup_that_is_retried_after_a_plan_takes_back_its_first_message() -> None:
    """The plan changes what the lookup records, so the retry puts another event."""
    world = World()
    play(world, {"past": started(FIRST, ONE, 3)})
    (message,) = world.queues.take(LOOKUPS)
    plan = first_attempt(scheduled(FIRST, ONE, 1))
    for outcome in fault_points(
        world, look_up(message), recover=in_order(plan, look_up(message)), kinds=(*CRASHES, *ERRORS)
    ):
        assert not broken_histories(outcome.tables), outcome.story()


def test_an_end_that_is_retried_after_an_earlier_end_takes_back_its_event() -> None:
    """The first end of a machine counts, so the retry records that one again, and its own event is left."""
    world = World()
    play(world, {"past": scheduled(FIRST, ONE, 1)})
    end, earlier = state(ONE, "terminated", 10), first_attempt(state(ONE, "shutting-down", 9))
    for outcome in fault_points(world, end, recover=in_order(earlier, end), kinds=(*CRASHES, *ERRORS)):
        assert not broken_histories(outcome.tables), outcome.story()


def test_a_process_that_is_about_to_save_a_supposed_leftover_decides_again() -> None:
    world = World()
    play(world, {"past": in_order(scheduled(FIRST, ONE, 1), scheduled(FIRST, OTHER, 2, again=True))})
    plays = interleavings(
        world,
        in_order(scheduled(FIRST, ONE, 3, again=True), warned(ONE, 4)),
        lambda process: process.ledger.undo_unsaved_events(INSTALLATION, FIRST),
        preemptions=3,
        limit=300,
    )
    for outcome in plays:
        assert not broken_histories(outcome.tables), outcome.story()
        job = from_attributes(outcome.tables[JOBS][job_key(FIRST), "v"])
        assert (job["instance_id"], job["interrupted_at"]) == (ONE, "2025-01-15T10:04:00.000Z")
