"""Limits for the number of AWS calls on each path; GitHub waits for all of them."""

import pytest

from bench.harness import Harness
from bench.round_trips import paths

pytestmark = pytest.mark.server

MOST_CALLS = {
    "new_job": 3,
    "new_job_redelivered": 5,
    "scheduled": 5,
    "started": 3,
    "started_redelivered": 2,
    "started_retried": 1,
    "completed": 4,
    "told_by_another_hook": 6,
    "first_heard_of_when_completed": 5,
    "ping": 0,
    "event_not_used": 0,
    "bad_signature": 0,
    "deferred": 3,
    "new_job_in_a_cold_function": 6,
}


def test_no_path_calls_aws_more_often_than_before(harness: Harness) -> None:
    found = {path: usage.round_trips for path, usage in paths(harness).items()}
    assert found.keys() == MOST_CALLS.keys()
    assert {path: calls for path, calls in found.items() if calls > MOST_CALLS[path]} == {}


def test_a_new_job_needs_no_read(harness: Harness) -> None:
    assert paths(harness)["new_job"].calls["dynamodb.GetItem"] == 0
