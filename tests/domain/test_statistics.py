"""Numbers over any number of jobs, in memory that does not grow with them."""

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runledger.model.job_line import JobLine
from runledger.queries.histograms import Histogram, bucket
from runledger.queries.rankings import Ranking
from runledger.queries.statistics import Statistics

SINCE, UNTIL = "2025-01-01T00:00:00.000Z", "2025-03-01T00:00:00.000Z"


def finished(job_id: int, *, seconds: int = 60, **about: Any) -> JobLine:
    about = {"created_at": "2025-01-15T10:00:00.000Z", "conclusion": "success", "queue_ms": 1000, **about}
    return JobLine(job_id=job_id, seconds=seconds, **about)


def summary(*lines: JobLine, since: str = SINCE, until: str = UNTIL, still_open: str = "") -> dict[str, Any]:
    statistics = Statistics(since=since, until=until)
    for line in lines:
        statistics.add(line)
    return statistics.summary(Counter(still_open.split()))


@given(st.lists(st.integers(min_value=0, max_value=10**10), min_size=1, max_size=300))
def test_a_percentile_is_at_most_one_percent_off(durations: list[int]) -> None:
    histogram = Histogram()
    for ms in durations:
        histogram.add(ms, bucket(ms))
    ordered = sorted(durations)
    for share, found in zip((0.5, 0.9, 0.99), histogram.seconds(0.5, 0.9, 0.99), strict=True):
        exact = ordered[max(0, -int(-share * len(ordered) // 1) - 1)]
        assert found is not None
        assert abs(found * 1000 - exact) <= exact * 0.0101 + 0.5
    assert histogram.largest_seconds() == ordered[-1] / 1000


def test_of_nothing_there_is_no_percentile() -> None:
    assert Histogram().seconds(0.5) == [None]
    assert summary()["success_rate"] is None


def test_only_jobs_that_succeeded_or_failed_make_the_success_rate() -> None:
    conclusions = ("success", "success", "success", "failure", "timed_out", "cancelled", "skipped", "neutral")
    found = summary(*(finished(n, conclusion=each) for n, each in enumerate(conclusions)))
    assert found["success_rate"] == 0.6
    assert found["by_conclusion"]["cancelled"] == 1


def test_jobs_that_never_ran_count_but_measure_nothing() -> None:
    found = summary(finished(1), finished(2, conclusion="cancelled", queue_ms=None, seconds=0), still_open="queued")
    assert (found["jobs"], found["duration_seconds"]["count"]) == (2, 1)
    assert found["by_status"] == {"queued": 1, "completed": 2}


def test_spot_is_shown_with_its_savings() -> None:
    on_spot = finished(1, dollars=Decimal("0.25"), saved=Decimal("0.75"), interrupted=True)
    found = summary(on_spot, finished(2, dollars=Decimal("1")))
    assert found["spot"] == {"share": 0.5, "savings_in_dollars": Decimal("0.75")}
    assert (found["usage_in_dollars"], found["interruptions"]) == (Decimal("1.25"), 1)


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


def test_a_job_is_in_the_hour_of_its_creation() -> None:
    line = finished(1, created_at="2025-01-01T02:59:59.999Z", conclusion="failure", dollars=Decimal("0.5"))
    points = summary(line, until="2025-01-02T00:00:00.000Z")["series"]
    assert [(point["jobs"], point["completed"], point["failed"]) for point in points[1:4]] == [
        (0, 0, 0),
        (1, 1, 1),
        (0, 0, 0),
    ]
    assert points[2]["usage_in_dollars"] == Decimal("0.5")


def test_the_slowest_and_the_costliest_are_listed_by_name() -> None:
    lines = [
        finished(n, seconds=n, dollars=Decimal(20 - n), job_name=f"job {n}", workflow_name="CI") for n in range(20)
    ]
    found = summary(*lines)
    assert [each["job_name"] for each in found["slowest"]] == [f"job {n}" for n in range(19, 9, -1)]
    assert [each["job_name"] for each in found["costliest"]] == [f"job {n}" for n in range(10)]
    assert found["costliest"][0] == {"workflow_name": "CI", "job_name": "job 0", "jobs": 1, "usage_in_dollars": 20}


def test_of_too_many_names_those_that_used_least_are_forgotten() -> None:
    ranking = Ranking(names_kept=20)
    for n in range(10_000):
        ms = 1_000_000 if n < 5 else 1000 + n
        ranking.add("CI", f"made up {n}", ms=ms, bucket=bucket(ms), dollars=Decimal(ms))
    assert {each["job_name"] for each in ranking.costliest()} >= {f"made up {n}" for n in range(5)}
    assert len(ranking._entries) <= 40
