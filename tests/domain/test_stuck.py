"""When a job is stuck, and what follows from GitHub's response."""

from dataclasses import replace
from typing import Any

import pytest
from runledger.model.inputs import EventType, Facts, Status
from runledger.model.job import Job
from runledger.model.stuck import GitHubJob, StuckThresholds, Verdict, judge, request_is_due, stuck_since
from runledger.recording.decision import decide

from tests.support.webhooks import QUEUED, receipt

NOW = "2025-01-15T12:00:00.000Z"
LONG_AGO, A_MINUTE_AGO = "2025-01-15T04:00:00.000Z", "2025-01-15T11:59:00.000Z"
THRESHOLDS = StuckThresholds(
    stuck_queued_minutes=10,
    stuck_scheduled_minutes=10,
    long_running_hours=6,
    forgotten_approval_hours=4,
    runner_requests_at_most=5,
)


def job(status: Status, *, since: str = LONG_AGO, **about: Any) -> Job:
    names = ("created_at", "received_at", "last_updated_at", "scheduled_at", "started_at", "queued_reported_at")
    times = dict.fromkeys(names, since)
    return replace(decide(None, receipt(QUEUED)).job, status=status, **times | about)


def on_github(status: Status, *, since: str = LONG_AGO, conclusion: str | None = None) -> GitHubJob:
    return GitHubJob(job_id=1, status=status, since=since, facts=Facts(conclusion=conclusion))


def verdict(of: Job, found: GitHubJob | None, *, runner_lives: bool | None = None) -> Verdict:
    return judge(of, found, runner_lives=runner_lives, now=NOW, thresholds=THRESHOLDS)


OPEN = [status for status in Status if status is not Status.COMPLETED]


@pytest.mark.parametrize("status", OPEN)
def test_each_status_has_its_own_threshold(status: Status) -> None:
    assert stuck_since(job(status), now=NOW, thresholds=THRESHOLDS) == LONG_AGO
    assert stuck_since(job(status, since=A_MINUTE_AGO), now=NOW, thresholds=THRESHOLDS) is None


def test_a_completed_job_is_never_stuck_and_never_touched() -> None:
    assert stuck_since(job(Status.COMPLETED), now=NOW, thresholds=THRESHOLDS) is None
    for found in (None, *(on_github(status) for status in Status)):
        assert verdict(job(Status.COMPLETED), found) is Verdict.LEAVE


def test_how_long_a_job_is_stuck_does_not_jump_when_a_runner_is_requested() -> None:
    queued = job(Status.QUEUED, created_at="2025-01-14T04:00:00.000Z")
    requested = replace(queued, runner_requests=1, runner_requested_at=NOW, last_updated_at=NOW)
    assert {stuck_since(each, now=NOW, thresholds=THRESHOLDS) for each in (queued, requested)} == {LONG_AGO}


def test_a_job_that_has_lost_its_runner_is_stuck_much_earlier_than_one_that_works() -> None:
    half_an_hour = "2025-01-15T11:30:00.000Z"
    assert stuck_since(job(Status.IN_PROGRESS, since=half_an_hour), now=NOW, thresholds=THRESHOLDS) is None
    lost = job(Status.IN_PROGRESS, since=half_an_hour, terminated_at="2025-01-15T11:40:00.000Z")
    assert stuck_since(lost, now=NOW, thresholds=THRESHOLDS) == "2025-01-15T11:40:00.000Z"


@pytest.mark.parametrize("ours", OPEN)
@pytest.mark.parametrize("githubs", list(Status))
def test_github_takes_a_job_further_and_never_back(ours: Status, githubs: Status) -> None:
    healed = verdict(job(ours), on_github(githubs), runner_lives=True) is Verdict.HEAL
    assert healed is (githubs is not ours and githubs.rank >= ours.rank)


@pytest.mark.parametrize("ours", OPEN)
def test_a_change_of_the_last_two_minutes_is_left_to_its_webhook(ours: Status) -> None:
    found = on_github(Status.COMPLETED, since="2025-01-15T11:59:30.000Z")
    assert verdict(job(ours), found, runner_lives=True) is not Verdict.HEAL


@pytest.mark.parametrize("ours", OPEN)
def test_only_a_stuck_job_is_closed_because_github_does_not_know_it(ours: Status) -> None:
    assert verdict(job(ours), None) is Verdict.CLOSE
    assert verdict(job(ours, since=A_MINUTE_AGO), None) is Verdict.LEAVE


@pytest.mark.parametrize(
    ("ours", "runner_lives", "expected"),
    [
        (Status.QUEUED, None, Verdict.REQUEST_RUNNER),
        (Status.SCHEDULED, False, Verdict.REQUEST_RUNNER),
        (Status.SCHEDULED, True, Verdict.LEAVE),
        (Status.SCHEDULED, None, Verdict.LEAVE),
    ],
)
def test_a_runner_is_requested_where_none_came_or_it_is_gone(
    ours: Status, runner_lives: bool | None, expected: Verdict
) -> None:
    ours_now = replace(job(ours), instance_id="i-1" if ours is Status.SCHEDULED else None)
    assert verdict(ours_now, on_github(Status.QUEUED), runner_lives=runner_lives) is expected


@pytest.mark.parametrize(
    ("runner_lives", "expected"), [(True, Verdict.LONG_RUNNING), (None, Verdict.LONG_RUNNING), (False, Verdict.LEAVE)]
)
def test_a_long_running_job_is_shown_unless_its_runner_is_gone(runner_lives: bool | None, expected: Verdict) -> None:
    assert verdict(job(Status.IN_PROGRESS), on_github(Status.IN_PROGRESS), runner_lives=runner_lives) is expected


@pytest.mark.parametrize(
    ("requests", "minutes_since_the_last", "due"),
    [(1, 9, False), (1, 10, True), (2, 19, False), (2, 20, True), (3, 39, False), (3, 40, True), (5, 59, False)],
)
def test_each_pause_is_twice_as_long_and_there_is_an_end(requests: int, minutes_since_the_last: int, due: bool) -> None:
    at = f"2025-01-15T11:{60 - minutes_since_the_last:02}:00.000Z"
    stuck = job(Status.QUEUED, runner_requests=requests, runner_requested_at=at)
    assert request_is_due(stuck, now=NOW, thresholds=THRESHOLDS) is due


def test_the_end_of_a_runner_that_never_registered_does_not_assign_it_again() -> None:
    """Its mapping is cleaned minutes after another one was requested, and the job records that it is gone."""
    waiting = job(Status.QUEUED, runner_requests=1, started_at=None, scheduled_at=None)
    gone = replace(
        receipt(QUEUED),
        delivery_id="i-1 runner_terminated",
        event_type=EventType.RUNNER_TERMINATED,
        status=None,
        facts=Facts(instance_id="i-1", terminated_at=NOW),
    )
    after = decide(waiting, gone).job
    assert (after.status, after.instance_id, after.terminated_at) == (Status.QUEUED, None, None)
