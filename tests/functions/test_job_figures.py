"""Log lines of started and completed jobs carry the job's figures, and saved queries find them there."""

import json
from typing import Any

import pytest

from stacks.monitoring.saved_queries import OVER_FUNCTIONS
from tests.functions.conftest import World
from tests.support import insights
from tests.support.log_lines import written
from tests.support.runner_events import INSTANCE, batch, instance_state, interruption, launcher
from tests.support.webhooks import COMPLETED, IN_PROGRESS, JOB, QUEUED, REPO, http_event, payload

RUNNER = f"runner-{INSTANCE}"
PRICES: dict[str, Any] = {"price_per_hour": 0.36, "on_demand_price_per_hour": 0.72}
TEN_O_CLOCK = 1_736_935_200_123


def deliver(world: World, step: str, *, repo: str = REPO, job_id: int = JOB, **changes: Any) -> None:
    body = payload(step, job_id=job_id, **changes)
    body["repository"]["full_name"] = repo
    event = http_event(json.dumps(body).encode(), guid=f"{step} {job_id}", at_epoch_ms=TEN_O_CLOCK)
    assert world.invoke("webhook_intake", event)["statusCode"] == 202


def line_of(lines: list[dict[str, Any]], event_type: str) -> dict[str, Any]:
    (found,) = [line for line in lines if line.get("event_type") == event_type]
    return found


def live(world: World, job_id: int = JOB, *, repo: str = REPO, plan: dict[str, Any] | None = None, **end: Any) -> None:
    """`plan` is what the launcher reports; without it, the job runs on a machine that is unknown."""
    deliver(world, QUEUED, repo=repo, job_id=job_id)
    name = "laptop"
    if plan is not None:
        name = f"runner-i-{job_id:017x}"
        event = launcher("runner_scheduled", job_id=job_id, runner_id=f"i-{job_id:017x}", repo_full_name=repo, **plan)
        world.invoke("scheduling_events", batch(event))
    deliver(world, IN_PROGRESS, repo=repo, job_id=job_id, runner_name=name)
    deliver(world, COMPLETED, repo=repo, job_id=job_id, runner_name=name, **end)


KNOWN_AT_START = {
    "instance_type": "c7g.large",
    "instance_lifecycle": "spot",
    "pool_name": "small-arm64",
    "runner_name": RUNNER,
    "scheduled_at": "2025-01-15T10:01:00.000Z",
    "was_interrupted": False,
    "overall_queue_duration_in_ms": 150_000,
    "internal_queue_duration_in_ms": 59_877,
}


def test_the_line_of_a_started_job_has_its_machine_and_its_queue_time(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    deliver(world, QUEUED)
    world.invoke("scheduling_events", batch(launcher("runner_scheduled", **PRICES)))
    deliver(world, IN_PROGRESS, runner_name=RUNNER)
    line = line_of(written(capsys), "webhook_in_progress")
    assert {name: line.get(name) for name in KNOWN_AT_START} == KNOWN_AT_START
    assert "conclusion" not in line


def test_the_line_of_a_completed_job_has_its_result_and_cost_and_no_new_dimension(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    deliver(world, QUEUED)
    world.invoke("scheduling_events", batch(launcher("runner_scheduled", **PRICES)))
    deliver(world, IN_PROGRESS, runner_name=RUNNER)
    world.invoke("spot_interruption", batch(interruption(minute=5)))
    deliver(world, COMPLETED, runner_name=RUNNER, conclusion="failure")
    line = line_of(written(capsys), "webhook_completed")
    expected = KNOWN_AT_START | {
        "conclusion": "failure",
        "was_interrupted": True,
        "usage_in_seconds": 615,
        "usage_in_dollars": 0.0615,
        "saved_in_dollars": 0.0615,
    }
    assert {name: line.get(name) for name in expected} == expected
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Dimensions"] == [["service", "stage"]]
    assert not {metric["Name"] for metric in directive["Metrics"]} & expected.keys()


def test_internal_queue_time_is_a_metric_of_jobs_that_a_launcher_scheduled(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    live(world, 1, plan={})
    scheduled = line_of(written(capsys), "webhook_completed")
    live(world, 2)
    assert scheduled["InternalQueueTime"] == 59_877
    assert "InternalQueueTime" not in line_of(written(capsys), "webhook_completed")


def test_the_duration_of_an_interrupted_job_lasts_until_its_completion(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    deliver(world, QUEUED)
    world.invoke("scheduling_events", batch(launcher("runner_scheduled", **PRICES)))
    deliver(world, IN_PROGRESS, runner_name=RUNNER)
    world.invoke("instance_state", batch(instance_state("terminated", minute=5)))
    deliver(world, COMPLETED, runner_name=RUNNER, conclusion="failure")
    line = line_of(written(capsys), "webhook_completed")
    assert (line["JobDuration"], line["usage_in_seconds"]) == (615, 150)


def test_lines_before_the_start_stay_short(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    deliver(world, QUEUED)
    assert "was_interrupted" not in line_of(written(capsys), "webhook_queued")


def test_the_query_queue_time_by_pool_groups_real_lines(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    live(world, 1, plan={"pool_name": "small"})
    live(world, 2, plan={"pool_name": "large", "minute": 2}, started_at="2025-01-15T10:05:00Z")
    live(world, 3, plan={"pool_name": "large", "minute": 2}, started_at="2025-01-15T10:03:00Z")
    live(world, 4)
    rows = insights.run(OVER_FUNCTIONS["queue time by pool"], written(capsys))
    assert rows == [
        {"pool_name": "large", "queued_p50_s": 180, "queued_p90_s": 300, "until_launch_p90_s": 119.877, "jobs": 2},
        {"pool_name": "small", "queued_p50_s": 150, "queued_p90_s": 150, "until_launch_p90_s": 59.877, "jobs": 1},
        {"queued_p50_s": 150, "queued_p90_s": 150, "jobs": 1},
    ]


def test_the_query_failures_by_instance_type_groups_real_lines(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    live(world, 1, plan={}, conclusion="failure")
    live(world, 2, plan={})
    live(world, 3, plan={"instance_type": "m7g.xlarge", "instance_lifecycle": "on-demand"})
    rows = insights.run(OVER_FUNCTIONS["failures by instance type"], written(capsys))
    assert rows == [
        {"instance_type": "c7g.large", "instance_lifecycle": "spot", "failed": 1, "failed_percent": 50, "jobs": 2},
        {"instance_type": "m7g.xlarge", "instance_lifecycle": "on-demand", "failed": 0, "failed_percent": 0, "jobs": 1},
    ]


def test_the_query_cost_by_repository_adds_up_real_lines(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    live(world, 1, plan=PRICES, repo="acme/dear")
    live(world, 2, plan=PRICES, repo="acme/dear")
    live(world, 3, plan={"price_per_hour": 0.036}, repo="acme/cheap")
    live(world, 4, repo="acme/unpriced")
    rows = insights.run(OVER_FUNCTIONS["cost by repository"], written(capsys))
    assert [(row["repo_full_name"], round(row["dollars"], 6), row["jobs"]) for row in rows] == [
        ("acme/dear", 0.123, 2),
        ("acme/cheap", 0.00615, 1),
    ]
    assert rows[0]["saved_by_spot"] == pytest.approx(0.123)
