"""Every number of a month, compared with one that is computed from the same facts without the product's code."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from runledger.recording.ledger import Ledger
from runledger.runners.tracker import RunnerTracker
from runledger.tables.runners import RunnersTable
from runledger_api import app

from tests.api.client import Client
from tests.api.conftest import api, ledger
from tests.figures import expected
from tests.figures.month import BEGIN, NOW, REPOSITORIES, Fact, facts, report, text
from tests.functions.conftest import World, world
from tests.support.ledgers import RUNNERS
from tests.support.runner_events import SCOPE
from tests.support.webhooks import INSTALLATION

__all__ = ["api", "ledger", "world"]

HERE = f"/v1/installations/{INSTALLATION}"
JOBS = 70
LAST_TWO_DAYS = NOW - timedelta(hours=48)
RANGES = {
    "the whole month": (BEGIN, NOW, expected.DAY),
    "the last two days": (LAST_TWO_DAYS, NOW, expected.HOUR),
    "the second day": (BEGIN + timedelta(days=1), BEGIN + timedelta(days=2), expected.HOUR),
    "a day in the middle": (
        datetime(2025, 1, 14, tzinfo=BEGIN.tzinfo),
        datetime(2025, 1, 15, tzinfo=BEGIN.tzinfo),
        expected.HOUR,
    ),
}


@pytest.fixture
def month(world: World, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> list[Fact]:
    monkeypatch.setattr(app, "READ_TIMEOUT_SECONDS", 600)
    table = RunnersTable(world.dynamodb, RUNNERS, retention_days=14)
    runners = RunnerTracker(table=table, record=ledger.record, scope=SCOPE)
    known = facts(seed=7, number=JOBS)
    for fact in known:
        report(fact, ledger, runners)
    return known


def get(api: Client, path: str, **query: Any) -> Any:
    now_ms = int(NOW.timestamp()) * 1000
    found = replace(api, now_ms=now_ms).get(f"{HERE}/{path}", **query)
    assert found.status == 200, found.body
    return found.body


def test_every_number_of_a_month_follows_its_definition(api: Client, month: list[Fact]) -> None:
    for name, (since, until, step) in RANGES.items():
        for repo in (None, REPOSITORIES[0]):
            chosen = [fact for fact in month if repo in (None, fact.repo)]
            want = expected.statistics(chosen, since, until, step)
            got = get(api, "statistics", since=text(since), until=text(until), repo=repo)
            assert got["truncated"] is False
            compare(f"{name}, {repo}", got, want)
    _compare_pools(api, month)
    _compare_lists(api, month)
    _compare_rankings(api, month)


def compare(where: str, got: dict[str, Any], want: dict[str, Any]) -> None:
    for figure in (
        "jobs",
        "succeeded",
        "failed",
        "success_rate",
        "interruptions",
        "unpriced_seconds",
        "usage_in_seconds",
    ):
        assert got[figure] == pytest.approx(want[figure]), (where, figure)
    assert got["by_conclusion"] == dict(want["by_conclusion"]), where
    assert got["usage_in_dollars"] == pytest.approx(want["usage_in_dollars"], abs=1e-6), where
    assert got["spot"] == pytest.approx(want["spot"], abs=1e-6), where
    for figure, values in (("queue_seconds", want["queues"]), ("duration_seconds", want["durations"])):
        assert got[figure]["count"] == len(values), (where, figure)
        assert got[figure]["max"] == max(values, default=None), (where, figure)
        for percentile, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
            exact = expected.percentile(values, share)
            assert got[figure][percentile] == exact, (where, figure, percentile)
    assert len(got["series"]) == len(want["series"]), where
    for point, wanted in zip(got["series"], want["series"], strict=True):
        for figure, value in wanted.items():
            assert point[figure] == pytest.approx(value, abs=0.51 if figure == "unpriced_seconds" else 1e-6), (
                where,
                point["start"],
                figure,
            )
    spent = sum(point["usage_in_dollars"] or 0 for point in got["series"])
    assert spent == pytest.approx(got["usage_in_dollars"] or 0, abs=1e-4), where


def _compare_pools(api: Client, month: list[Fact]) -> None:
    want = expected.pools(month, BEGIN, NOW)
    got = get(api, "pools", since=text(BEGIN), until=text(NOW))
    assert {pool["pool_name"] for pool in got["items"]} == set(want)
    for pool in got["items"]:
        for figure, value in want[pool["pool_name"]].items():
            assert pool[figure] == pytest.approx(value, abs=1e-6), (pool["pool_name"], figure)


def _compare_lists(api: Client, month: list[Fact]) -> None:
    yesterday = NOW - timedelta(days=1)
    counts = get(api, "counts")
    assert counts["completed_24h"] == len(expected.completed_in(month, yesterday, NOW))
    open_jobs = Counter(expected.status(fact) for fact in month if not fact.completed)
    assert {name: number for name, number in counts.items() if name != "completed_24h" and number} == dict(open_jobs)
    query = {"status": "completed", "range_of": "completed", "since": text(BEGIN), "limit": 200}
    listed = {job["job_id"]: job for job in get(api, "jobs", **query)["items"]}
    assert set(listed) == {fact.job_id for fact in month if fact.completed}
    for fact in month:
        if fact.completed:
            _compare_job(listed[fact.job_id], fact)
    copies = {job for fact in month for job in fact.copies}
    assert copies
    for job_id in copies:
        assert get(api, f"jobs/{job_id}")["carried_over"] is True


def _compare_job(job: dict[str, Any], fact: Fact) -> None:
    queued = expected.queue_seconds(fact)
    assert job.get("overall_queue_duration_in_ms") == (None if queued is None else queued * 1000), fact
    assert job["usage_in_seconds"] == expected.machine_seconds(fact), fact
    cost = expected.cost(fact, expected.price(fact))
    assert job.get("usage_in_dollars") == (None if cost is None else pytest.approx(float(cost))), fact


def _compare_rankings(api: Client, month: list[Fact]) -> None:
    got = get(api, "statistics", since=text(BEGIN), until=text(NOW))
    costs = expected.costs_by_name(month, BEGIN, NOW)
    listed = {(each["repo_full_name"], each["job_name"]): each["usage_in_dollars"] for each in got["costliest"]}
    most = dict(Counter(costs).most_common(len(listed)))
    assert listed == {name: pytest.approx(value, abs=1e-6) for name, value in most.items()}
    slowest = {(each["repo_full_name"], each["job_name"]): each["p90_seconds"] for each in got["slowest"]}
    p90s = expected.p90s_by_name(month, BEGIN, NOW)
    assert slowest == dict(Counter(p90s).most_common(10))
    for since in (BEGIN, LAST_TWO_DAYS):
        counted = get(api, "repositories", since=text(since))["items"]
        assert {each["repo_full_name"]: each["jobs"] for each in counted} == expected.repositories(month, since)
