"""Ceilings of the cost of one job. If a change makes a job cheaper, lower its ceiling and run `make bench-docs`."""

import pytest

from bench import capacity, growth
from bench.capacity import SAME_WORK
from bench.growth import history, matrix
from bench.harness import Harness
from bench.lives import LIVES, WITH_PROPERTIES, Life, examples, normal
from bench.sizes import item_bytes
from tests.support.ledgers import JOBS

pytestmark = pytest.mark.server

MOST_WRITE_UNITS = {
    "normal": 24,
    "without_launcher": 17,
    "cancelled": 13,
    "waiting": 40,
    "redelivered": 31,
    "interrupted": 40,
}
# Each event of a machine reads the runner, and the job's messages read the job consistently.
MOST_READ_UNITS = {
    "normal": 2.5,
    "without_launcher": 1,
    "cancelled": 0.5,
    "waiting": 4,
    "redelivered": 4.5,
    "interrupted": 8.5,
}


@pytest.mark.parametrize("name", LIVES)
def test_a_job_costs_no_more_than_it_did(harness: Harness, name: str) -> None:
    usage = capacity.life(harness, name)
    assert usage.written() <= MOST_WRITE_UNITS[name]
    assert usage.read() <= MOST_READ_UNITS[name]


def test_jobs_and_history_cost_less_than_three_fifths_of_the_original_schema(harness: Harness) -> None:
    ours, original = capacity.life(harness, "normal"), capacity.original_life(harness)
    assert (original.written(), original.read()) == (32, 1.5)
    assert ours.written(*SAME_WORK) / original.written() <= 0.6


def test_custom_properties_cost_a_unit_at_most(harness: Harness) -> None:
    usual, more = capacity.life(harness, "normal"), capacity.life(harness, "normal", WITH_PROPERTIES)
    assert more.written(*SAME_WORK) <= usual.written(*SAME_WORK) + 1


def test_no_example_of_githubs_costs_more_than_a_typical_job(harness: Harness) -> None:
    found = [capacity.life(harness, "normal", example).written(*SAME_WORK) for example in examples()]
    assert max(found) <= 20


def test_the_same_job_costs_the_same_every_time(harness: Harness) -> None:
    first, second = capacity.life(harness, "normal"), capacity.life(harness, "normal")
    assert first == second


def test_ten_jobs_of_one_run_cost_no_more_than_ten_of_one(harness: Harness) -> None:
    harness.measure(*normal(Life()))
    alone, _ = matrix(harness, 1)
    together, jobs = matrix(harness, 10)
    assert together.written() <= alone.written() * jobs
    assert together.round_trips == alone.round_trips * jobs


def test_a_long_history_makes_the_next_webhook_hardly_more_expensive(harness: Harness) -> None:
    """A job remembers what it has taken in, nine bytes each: so it may pass a kilobyte, and cost a unit more."""
    short, _ = history(harness, 1)
    long, _ = history(harness, 10)
    assert long.written() <= short.written() + 1
    assert (long.read(), long.calls) == (short.read(), short.calls)


def test_an_installation_that_is_known_is_not_registered_again(harness: Harness) -> None:
    first = harness.measure(*normal(Life()))
    second, _ = growth.runs(harness, 1)
    assert second.round_trips < first.round_trips


def test_sizes_are_computed_as_the_engine_does(harness: Harness) -> None:
    for make in LIVES.values():
        harness.measure(*make(Life()))
    stored = harness.dynamodb.scan(TableName=JOBS)["Items"]
    table_bytes = harness.dynamodb.describe_table(TableName=JOBS)["Table"]["TableSizeBytes"]
    assert sum(item_bytes(item) for item in stored) == table_bytes
