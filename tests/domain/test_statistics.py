"""Numbers over any number of jobs, in memory that does not grow with them."""

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runledger.model import times
from runledger.model.completed_job import CompletedJob
from runledger.model.inputs import EventType, Facts, Receipt, Source, Status
from runledger.model.job import Job
from runledger.queries.histograms import EXACT_UP_TO, Histogram, bucket
from runledger.queries.pools import Pools
from runledger.queries.rankings import Ranking
from runledger.queries.statistics import Statistics
from runledger.queries.usage import Usage

SINCE, UNTIL = "2025-01-01T00:00:00.000Z", "2025-03-01T00:00:00.000Z"


def finished(job_id: int, *, seconds: int = 60, at: str = "2025-01-15T10:10:00.000Z", **about: Any) -> CompletedJob:
    """A job that completed at `at` after so many seconds on its machine."""
    started_at = times.earlier(at, seconds=seconds)
    defaults = {"created_at": times.earlier(started_at, seconds=1), "started_at": started_at, "queue_ms": 1000}
    known: dict[str, Any] = defaults | {"completed_at": at, "conclusion": "success", "seconds": seconds} | about
    return CompletedJob(job_id=job_id, **known)


def summary(*jobs: CompletedJob, since: str = SINCE, until: str = UNTIL, still_open: str = "") -> dict[str, Any]:
    statistics = Statistics(since=since, until=until)
    for job in jobs:
        statistics.add_completed(job)
    for status in still_open.split():
        statistics.add_open(status=status, created_at=since, usage=None)
    return statistics.summary()


SHARES = (Fraction("0.5"), Fraction("0.9"), Fraction("0.99"))


def measured(durations: Iterable[int]) -> Histogram:
    histogram = Histogram()
    for ms in durations:
        histogram.add(ms, bucket(ms))
    return histogram


def exact_seconds(durations: Iterable[int]) -> list[float]:
    ordered = sorted(durations)
    return [ordered[math.ceil(share * len(ordered)) - 1] / 1000 for share in SHARES]


@given(st.lists(st.integers(min_value=0, max_value=10**10), min_size=1, max_size=300))
def test_percentiles_of_up_to_1000_jobs_are_exact(durations: list[int]) -> None:
    histogram = measured(durations)
    assert histogram.seconds(0.5, 0.9, 0.99) == exact_seconds(durations)
    assert histogram.largest_seconds() == max(durations) / 1000


@given(st.lists(st.integers(min_value=0, max_value=10**10), min_size=1, max_size=300))
def test_a_percentile_of_more_than_1000_jobs_is_at_most_one_percent_off(durations: list[int]) -> None:
    many = durations * (EXACT_UP_TO // len(durations) + 1)
    for found, exact in zip(measured(many).seconds(0.5, 0.9, 0.99), exact_seconds(many), strict=True):
        assert found is not None
        assert abs(found - exact) <= exact * 0.0101 + 0.0005


def test_one_job_of_100_seconds_is_shown_as_100_seconds() -> None:
    found = summary(finished(1, seconds=100, job_name="test"))
    assert found["duration_seconds"] == {"p50": 100, "p90": 100, "p99": 100, "max": 100, "count": 1}
    assert found["slowest"][0]["p90_seconds"] == 100
    (point,) = [each for each in found["series"] if each["completed"]]
    assert (point["duration_p50"], point["duration_p90"], point["queue_p50"]) == (100, 100, 1)


@pytest.mark.parametrize(("jobs", "values_kept"), [(EXACT_UP_TO, EXACT_UP_TO), (EXACT_UP_TO + 1, 0), (5000, 0)])
def test_the_memory_of_percentiles_is_bounded(jobs: int, values_kept: int) -> None:
    histogram = measured(range(jobs))
    assert (len(histogram._all), histogram.count) == (values_kept, jobs)


def test_of_nothing_there_is_no_percentile() -> None:
    assert Histogram().seconds(0.5) == [None]
    assert summary()["success_rate"] is None


def test_only_jobs_that_succeeded_or_failed_make_the_success_rate() -> None:
    conclusions = ("success", "success", "success", "failure", "timed_out", "cancelled", "skipped", "neutral")
    found = summary(*(finished(n, conclusion=each) for n, each in enumerate(conclusions)))
    assert found["success_rate"] == 0.6
    assert found["by_conclusion"]["cancelled"] == 1


def test_jobs_that_never_ran_count_but_measure_nothing() -> None:
    never_ran = finished(2, conclusion="cancelled", queue_ms=None, started_at=None, seconds=0)
    found = summary(finished(1), never_ran, still_open="queued")
    assert (found["jobs"], found["duration_seconds"]["count"], found["usage_in_seconds"]) == (3, 1, 60)
    assert found["by_status"] == {"queued": 1, "completed": 2}


def test_the_success_rate_comes_with_both_of_its_numbers() -> None:
    found = summary(*(finished(n, conclusion=each) for n, each in enumerate(("success", "failure", "cancelled"))))
    assert (found["succeeded"], found["failed"], found["success_rate"]) == (1, 1, 0.5)
    (point,) = [each for each in found["series"] if each["completed"]]
    assert (point["completed"], point["succeeded"], point["failed"]) == (3, 1, 1)


def test_the_share_of_spot_is_of_jobs_whose_lifecycle_is_known() -> None:
    jobs = [finished(n, lifecycle=each) for n, each in enumerate(("spot", "on-demand", "on-demand", None))]
    assert summary(*jobs)["spot"]["share"] == 1 / 3
    assert summary(finished(1))["spot"]["share"] is None


def test_savings_leave_out_unpriced_jobs_and_may_be_negative() -> None:
    saved = (Decimal("0.25"), Decimal("-0.75"), None)
    found = summary(*(finished(n, lifecycle="spot", saved=each) for n, each in enumerate(saved)))
    assert found["spot"]["savings_in_dollars"] == Decimal("-0.5")
    assert summary(finished(1, lifecycle="spot"))["spot"]["savings_in_dollars"] is None


def test_an_unknown_cost_is_null_and_its_time_is_unpriced() -> None:
    found = summary(finished(1, seconds=90))
    assert (found["usage_in_dollars"], found["unpriced_seconds"], found["usage_in_seconds"]) == (None, 90, 90)
    found = summary(finished(1, seconds=90), finished(2, dollars=Decimal("0.5")))
    assert (found["usage_in_dollars"], found["unpriced_seconds"]) == (Decimal("0.5"), 90)
    assert summary()["usage_in_dollars"] == 0


@pytest.mark.parametrize(
    ("until", "points", "last"),
    [
        ("2025-01-01T03:30:00.000Z", 4, "2025-01-01T03:00:00.000Z"),
        ("2025-01-04T00:00:00.000Z", 72, "2025-01-03T23:00:00.000Z"),
        ("2025-01-04T00:00:01.000Z", 4, "2025-01-04T00:00:00.000Z"),
        (UNTIL, 59, "2025-02-28T00:00:00.000Z"),
    ],
)
def test_a_series_has_hours_or_days_without_gaps(until: str, points: int, last: str) -> None:
    series = summary(until=until)["series"]
    assert (len(series), series[0]["start"], series[-1]["start"]) == (points, SINCE, last)


DAY = {"until": "2025-01-02T00:00:00.000Z"}


def test_a_job_counts_as_created_and_as_completed_in_the_hour_of_each() -> None:
    job = finished(1, at="2025-01-01T03:00:00.000Z", conclusion="failure", created_at="2025-01-01T01:59:59.999Z")
    points = summary(job, **DAY)["series"]
    assert [(point["jobs"], point["completed"], point["failed"]) for point in points[1:4]] == [
        (1, 0, 0),
        (0, 0, 0),
        (0, 1, 1),
    ]


def test_spend_belongs_to_the_hours_in_which_the_job_ran() -> None:
    job = finished(1, at="2025-01-01T03:30:00.000Z", seconds=2 * 3600, dollars=Decimal(4))
    found = summary(job, **DAY)
    assert [point["usage_in_dollars"] for point in found["series"][:5]] == [0, 1, 2, 1, 0]
    assert (found["usage_in_dollars"], found["usage_in_seconds"]) == (4, 7200)


def test_only_the_part_that_ran_in_the_range_is_spend_of_the_range() -> None:
    before_and_in = finished(1, at="2025-01-01T00:30:00.000Z", seconds=3600, dollars=Decimal(2))
    in_and_after = finished(2, at="2025-01-02T01:00:00.000Z", seconds=7200, dollars=Decimal(2))
    found = summary(before_and_in, in_and_after, **DAY)
    assert (found["usage_in_dollars"], found["usage_in_seconds"]) == (2, 1800 + 3600)
    assert (found["by_status"], found["duration_seconds"]["count"]) == ({"completed": 1}, 1)
    assert sum(point["usage_in_dollars"] for point in found["series"]) == 2


def test_a_running_job_is_spend_so_far() -> None:
    statistics = Statistics(since=SINCE, until=DAY["until"])
    running = {"started_at": "2025-01-01T01:30:00.000Z", "price_per_hour": 2, "status": "in_progress"}
    usage = Usage.so_far(running, "2025-01-01T02:30:00.000Z")
    statistics.add_open(status="in_progress", created_at="2025-01-01T01:00:00.000Z", usage=usage)
    found = statistics.summary()
    assert (found["usage_in_dollars"], found["usage_in_seconds"], found["jobs"]) == (2, 3600, 1)
    assert [point["usage_in_dollars"] for point in found["series"][:4]] == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("machine", "seconds"),
    [
        ({"terminated_at": "2025-01-01T01:40:00.000Z"}, 600),
        ({"terminated_at": "2025-01-01T01:20:00.000Z"}, 3600),  # and it was started again
        ({"terminated_at": "2025-01-01T01:40:00.000Z", "runner_name": "i-00000000000000002"}, 3600),
    ],
)
def test_a_running_job_uses_its_machine_as_it_will_when_it_has_completed(machine: dict[str, str], seconds: int) -> None:
    named = {"instance_id": "i-00000000000000001", "runner_name": "i-00000000000000001"}
    running: dict[str, Any] = {"started_at": "2025-01-01T01:30:00.000Z", "pool_name": "small", **named, **machine}
    usage = Usage.so_far(running, "2025-01-01T02:30:00.000Z")
    assert usage is not None
    assert usage.seconds == seconds
    job = Job(
        installation_id=1,
        job_id=1,
        status=Status.COMPLETED,
        created_at=SINCE,
        received_at=SINCE,
        last_updated_at=SINCE,
        completed_at="2025-01-01T02:30:00.000Z",
        **running,
    )
    again = Receipt(
        installation_id=1,
        job_id=1,
        delivery_id="again",
        received_at=SINCE,
        event_type=EventType.WEBHOOK_COMPLETED,
        source=Source.GITHUB_WEBHOOK,
        facts=Facts(),
    )
    assert job.absorb(again).usage_in_seconds == seconds


def test_a_machine_that_has_ended_is_neither_busy_nor_active() -> None:
    running = {
        "started_at": "2025-01-01T01:30:00.000Z",
        "pool_name": "small",
        "instance_id": "i-00000000000000001",
        "runner_name": "i-00000000000000001",
    }
    for ended, busy in (({}, 1), ({"terminated_at": "2025-01-01T01:40:00.000Z"}, 0)):
        pools = Pools(since=SINCE, until=UNTIL)
        pools.add_running(running | ended, now="2025-01-01T02:30:00.000Z")
        (pool,) = pools.to_json()
        assert (pool["busy"], pool["runners_active"]) == (busy, busy)


def test_the_cost_of_a_job_of_zero_seconds_without_a_price_is_unknown() -> None:
    job = finished(1, at="2025-01-01T03:00:00.000Z", seconds=0, dollars=None)
    found = summary(job, **DAY)
    assert (found["usage_in_dollars"], found["unpriced_seconds"]) == (None, 0)
    assert [point["usage_in_dollars"] for point in found["series"][2:5]] == [0, None, 0]


def test_a_job_of_zero_seconds_costs_in_the_hour_in_which_it_started() -> None:
    job = finished(1, at="2025-01-01T03:00:00.000Z", seconds=0, dollars=Decimal("0.01"))
    found = summary(job, **DAY)
    assert [point["usage_in_dollars"] for point in found["series"][2:5]] == [0, Decimal("0.01"), 0]


def test_the_slowest_and_the_costliest_are_listed_by_name() -> None:
    lines = [
        finished(
            n, seconds=n, dollars=Decimal(20 - n), job_name=f"job {n}", workflow_name="CI", repo_full_name="acme/web"
        )
        for n in range(20)
    ]
    found = summary(*lines)
    assert [each["job_name"] for each in found["slowest"]] == [f"job {n}" for n in range(19, 9, -1)]
    assert [each["job_name"] for each in found["costliest"]] == [f"job {n}" for n in range(10)]
    names = {"repo_full_name": "acme/web", "workflow_name": "CI", "job_name": "job 0"}
    assert found["costliest"][0] == {**names, "jobs": 1, "usage_in_dollars": 20}


def test_jobs_of_the_same_name_in_two_repositories_are_ranked_apart() -> None:
    found = summary(*(finished(n, job_name="test", repo_full_name=f"acme/{n}") for n in range(2)))
    assert {each["repo_full_name"] for each in found["slowest"]} == {"acme/0", "acme/1"}


def test_of_too_many_names_those_that_used_least_are_forgotten() -> None:
    ranking = Ranking(names_kept=20)
    for n in range(10_000):
        ms = 1_000_000 if n < 5 else 1000 + n
        name = ("acme/web", "CI", f"made up {n}")
        ranking.add_duration(name, ms, bucket(ms))
        ranking.add_cost(name, Decimal(ms))
    assert {each["job_name"] for each in ranking.costliest()} >= {f"made up {n}" for n in range(5)}
    assert len(ranking._entries) <= 40
