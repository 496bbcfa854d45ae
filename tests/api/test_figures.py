"""Each figure counts what docs/definitions.md defines."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from runledger.model.inputs import EventType
from runledger.recording.ledger import Ledger
from runledger.tables.job_pages import JobPages
from runledger.webhooks.readers import dispatcher
from runledger_api import app
from runledger_api.routes import stuck

from tests.api.client import NOON_EPOCH_MS, Client
from tests.api.conftest import Live
from tests.support import messages
from tests.support.webhooks import (
    COMPLETED,
    IN_PROGRESS,
    INSTALLATION,
    JOB,
    LIFE,
    QUEUED,
    REPO,
    RUN,
    delivery,
    receipt,
)

if TYPE_CHECKING:
    from runledger.model.inputs import Receipt

HERE = f"/v1/installations/{INSTALLATION}"


def reviewed(ledger: Ledger, action: str, *, at: str, received: int) -> None:
    event, message = messages.review(action, since=at, job_name="test")
    for each in dispatcher.read(delivery(message, guid=action, at=received, event=event)):
        ledger.dispatch(each)


@pytest.fixture
def approved(ledger: Ledger) -> None:
    """A job that is created at 10:00:00, waits from 10:00:10 to 10:02:10 and starts at 10:02:30."""
    for at, step in enumerate(LIFE):
        ledger.record(receipt(step, at=at, environment="production"))
        if step == "queued again":
            reviewed(ledger, "requested", at="2025-01-15T10:00:10Z", received=11)
            reviewed(ledger, "approved", at="2025-01-15T10:02:10Z", received=131)


@pytest.mark.usefixtures("approved")
def test_the_time_of_an_approval_is_not_queue_time(api: Client) -> None:
    job = api.get(f"{HERE}/jobs/{JOB}").body
    assert (job["approval_requested_at"], job["approved_at"]) == (
        "2025-01-15T10:00:10.000Z",
        "2025-01-15T10:02:10.000Z",
    )
    assert job["overall_queue_duration_in_ms"] == 30_000
    found = api.get(f"{HERE}/statistics", since="1d").body
    assert (found["queue_seconds"]["count"], found["queue_seconds"]["max"]) == (1, 30)


def test_an_approval_without_a_known_end_makes_the_queue_time_unknown(api: Client, live: Live) -> None:
    live(JOB)
    job = api.get(f"{HERE}/jobs/{JOB}").body
    assert job["approval_requested_at"] == job["created_at"]
    assert "overall_queue_duration_in_ms" not in job


@pytest.fixture
def carried_over(ledger: Ledger) -> None:
    """The copy in the second attempt, and the original."""
    ledger.record(receipt(COMPLETED, guid="original"))
    copied = receipt(COMPLETED, guid="copy", job_id=JOB + 1, run_attempt=2, created_at="2025-01-15T11:00:00Z")
    ledger.record(copied)


@pytest.mark.usefixtures("carried_over")
def test_jobs_that_a_partial_rerun_carried_over_are_in_no_figure(api: Client) -> None:
    copied = api.get(f"{HERE}/jobs/{JOB + 1}").body
    assert (copied["carried_over"], copied["usage_in_seconds"]) == (True, 0)
    assert "carried_over" not in api.get(f"{HERE}/jobs/{JOB}").body
    found = api.get(f"{HERE}/statistics", since="1d").body
    assert (found["by_conclusion"], found["succeeded"]) == ({"success": 1}, 1)
    assert api.get(f"{HERE}/counts").body["completed_24h"] == 1
    assert (found["jobs"], sum(point["jobs"] for point in found["series"])) == (1, 1)
    for since in (None, "1d"):
        counted = api.get(f"{HERE}/repositories", since=since).body
        assert counted == {"items": [{"repo_full_name": REPO, "jobs": 1}], "next_cursor": None, "truncated": False}


@pytest.mark.parametrize("completed", ["2025-01-06", "2025-01-07", "2025-02-06"])
def test_a_job_that_waited_for_weeks_was_created_in_its_range(api: Client, live: Live, completed: str) -> None:
    """At most 36 days: 30 for an approval, one for a runner, and five on it."""
    times = {"started_at": f"{completed}T00:00:00Z", "completed_at": f"{completed}T11:59:00Z"}
    live(1, created_at="2025-01-01T12:00:00Z", **times)
    live(2, created_at="2025-01-02T12:00:00Z", **times)
    later = replace(api, now_ms=NOON_EPOCH_MS + 60 * 86_400_000)
    found = later.get(f"{HERE}/statistics", since="2025-01-01", until="2025-01-02").body
    assert (found["jobs"], found["by_status"], found["truncated"]) == (1, {}, False)
    assert sum(point["jobs"] for point in found["series"]) == 1
    assert later.get(f"{HERE}/statistics", since="2025-01-01", until="2025-01-02", repo="a/b").body["jobs"] == 0


def test_a_completion_without_a_time_is_in_the_figures_at_its_receipt(api: Client, ledger: Ledger) -> None:
    ledger.record(receipt(IN_PROGRESS, at=150))
    ledger.record(receipt(COMPLETED, at=800, completed_at=None, conclusion=None))
    job = api.get(f"{HERE}/jobs/{JOB}").body
    assert (job["completed_at"], job["usage_in_seconds"]) == ("2025-01-15T10:13:20.123Z", 650)
    assert job["completed_at_is_guessed"] is True
    found = api.get(f"{HERE}/statistics", since="1d").body
    assert (found["by_status"], found["by_conclusion"]) == ({"completed": 1}, {"unknown": 1})
    assert (found["jobs"], found["usage_in_seconds"], found["duration_seconds"]["max"]) == (1, 650, 650.123)
    assert api.get(f"{HERE}/counts").body["completed_24h"] == 1


def test_repositories_that_are_cut_off_are_marked(api: Client, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search lists every repository, however many jobs there are."""
    live(1)
    monkeypatch.setattr(JobPages, "completed_jobs", lambda *_, **__: iter([[]]))
    monkeypatch.setattr(app, "READ_TIMEOUT_SECONDS", -1)
    for since, listed in ((None, [{"repo_full_name": REPO, "jobs": 0}]), ("1d", [])):
        found = api.get(f"{HERE}/repositories", since=since).body
        assert (found["items"], found["truncated"]) == (listed, True)


def test_the_list_behind_completed_in_24_hours_has_the_same_jobs(api: Client, live: Live) -> None:
    live(1, created_at="2025-01-10T10:00:00Z")  # completed today
    live(2, created_at="2025-01-10T10:00:00Z", started_at="2025-01-10T10:00:00Z", completed_at="2025-01-10T10:05:00Z")
    live(3, until=IN_PROGRESS)
    query = {"status": "completed", "range_of": "completed", "since": "24h"}
    listed = api.get(f"{HERE}/jobs", **query).body
    assert [job["job_id"] for job in listed["items"]] == [1]
    assert api.get(f"{HERE}/counts").body["completed_24h"] == 1
    assert [job["job_id"] for job in api.get(f"{HERE}/jobs", **query, repo="some/other").body["items"]] == []


@pytest.mark.parametrize(
    "query",
    [
        {"status": "queued", "range_of": "completed"},
        {"run_id": RUN, "range_of": "completed"},
        {"conclusion": "success"},
    ],
)
def test_a_range_of_completion_is_for_completed_jobs_only(api: Client, live: Live, query: dict[str, Any]) -> None:
    live(1)
    assert api.get(f"{HERE}/jobs", **query).status == 400


def test_filtered_pages_are_full_and_promise_no_page_that_does_not_exist(api: Client, live: Live) -> None:
    for job_id in range(1, 13):
        failed = job_id % 3 == 0
        live(job_id, created_at=f"2025-01-15T10:00:{job_id:02}Z", conclusion="failure" if failed else "success")
    seen, cursor = list[int](), None
    for expected in (2, 2):
        page = api.get(f"{HERE}/jobs", repo=REPO, conclusion="failure", limit=2, cursor=cursor).body
        assert len(page["items"]) == expected
        seen += (job["job_id"] for job in page["items"])
        cursor = page["next_cursor"]
    assert (seen, cursor) == ([12, 9, 6, 3], None)
    assert api.get(f"{HERE}/jobs", repo=REPO, limit=12).body["next_cursor"] is None


def scheduled(ledger: Ledger, job_id: int, machine: str) -> "Receipt":
    """A launcher starts a machine of the pool `large` for the job; returns the start of the job."""
    started: Receipt = receipt(IN_PROGRESS, job_id=job_id, guid=f"start of {job_id}")
    facts: dict[str, Any] = {
        "pool_name": "large",
        "instance_id": machine,
        "scheduled_at": "2025-01-15T10:00:00.000Z",
    }
    plan = replace(started.facts, **facts, runner_name=None, runner_id=None, started_at=None)
    opened = replace(started, event_type=EventType.RUNNER_SCHEDULED, status=None, body_digest=None, facts=plan)
    ledger.record(replace(opened, delivery_id=f"plan of {job_id}"))
    return started


def test_all_running_jobs_of_a_pool_are_busy(api: Client, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "READ_TIMEOUT_SECONDS", 600)
    for number in range(130):
        started = scheduled(ledger, 1000 + number, f"i-{number:017x}")
        ledger.record(replace(started, facts=replace(started.facts, runner_name=f"i-{number:017x}")))
    found = api.get(f"{HERE}/pools").body
    (pool,) = found["items"]
    assert (pool["busy"], found["truncated"]) == (130, False)


def test_a_running_job_is_in_a_pool_with_the_part_that_ran_in_the_range(api: Client, ledger: Ledger) -> None:
    """It has been running since 10:02:30, and now it is noon."""
    started = scheduled(ledger, 1, f"i-{1:017x}")
    ledger.record(replace(started, facts=replace(started.facts, runner_name=f"i-{1:017x}")))
    ranges = {"before": ("2025-01-14", "2025-01-15T10:00:00Z"), "an hour of it": ("2025-01-15T11:00:00Z", None)}
    found = {
        name: api.get(f"{HERE}/pools", since=since, until=until).body["items"]
        for name, (since, until) in ranges.items()
    }
    assert [(pool["jobs"], pool["seconds_used"], pool["busy"]) for pool in found["before"]] == [(0, 0, 1)]
    assert [(pool["jobs"], pool["seconds_used"], pool["busy"]) for pool in found["an hour of it"]] == [(0, 3600, 1)]


def test_the_jobs_that_completed_on_a_past_day_are_counted_by_a_range_of_that_day(api: Client, live: Live) -> None:
    times = {
        1: ("2025-01-09T23:59:00Z", "2025-01-09T23:59:59Z"),
        2: ("2025-01-09T23:59:00Z", "2025-01-10T00:00:00Z"),  # started the day before
        3: ("2025-01-10T12:00:00Z", "2025-01-10T12:05:00Z"),
        4: ("2025-01-10T23:59:00Z", "2025-01-10T23:59:59Z"),
        5: ("2025-01-10T23:59:00Z", "2025-01-11T00:00:00Z"),  # completed the day after
    }
    for job_id, (started, completed) in times.items():
        conclusion = "failure" if job_id == 3 else "success"
        live(job_id, created_at=started, started_at=started, completed_at=completed, conclusion=conclusion)
    found = api.get(f"{HERE}/statistics", since="2025-01-10", until="2025-01-11").body
    assert found["by_conclusion"] == {"success": 2, "failure": 1}
    assert (found["by_status"]["completed"], found["truncated"]) == (3, False)
    assert sum(point["completed"] for point in found["series"]) == 3


@pytest.mark.parametrize("path", ["pools", "statistics"])
def test_figures_that_are_cut_off_are_marked(
    api: Client, ledger: Ledger, live: Live, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    for job_id in (1, 2, 3):
        scheduled(ledger, job_id, f"i-{job_id:017x}")
        live(job_id, runner_name=f"i-{job_id:017x}")
    whole = JobPages.completed_jobs

    def one_by_one(*arguments: Any, **options: Any) -> Iterator[list[Any]]:
        for page in whole(*arguments, **options):
            yield from ([job] for job in page)

    monkeypatch.setattr(JobPages, "completed_jobs", one_by_one)
    for seconds, jobs, truncated in ((600, 3, False), (-1, 1, True)):
        monkeypatch.setattr(app, "READ_TIMEOUT_SECONDS", seconds)
        found = api.get(f"{HERE}/{path}", since="1d").body
        counted = sum(found["by_conclusion"].values()) if path == "statistics" else found["items"][0]["jobs"]
        assert (counted, found["truncated"]) == (jobs, truncated)


def test_a_list_of_stuck_jobs_that_is_cut_off_is_marked(
    api: Client, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    for job_id in (1, 2, 3):
        live(job_id, until=QUEUED)
    assert api.get(f"{HERE}/stuck").body["truncated"] is False
    monkeypatch.setattr(stuck, "MAX_PER_STATUS", 2)
    found = api.get(f"{HERE}/stuck").body
    assert (len(found["items"]), found["truncated"]) == (2, True)
