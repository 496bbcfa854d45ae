"""Runs with their counters, deployments, approvals, and what is stuck."""

from dataclasses import replace

from tests.api.client import Client
from tests.api.conftest import Live
from tests.support.webhooks import (
    COMPLETED,
    DEPLOYMENT,
    IN_PROGRESS,
    INSTALLATION,
    QUEUED,
    QUEUED_AGAIN,
    REPO,
    RUN,
    WAITING,
)

HERE = f"/v1/installations/{INSTALLATION}"


def test_a_run_has_its_counters_and_its_jobs_and_no_sets_of_ids(api: Client, live: Live) -> None:
    live(1)
    live(2, until=IN_PROGRESS)
    live(3, conclusion="failure")
    found = api.get(f"{HERE}/runs/{RUN}").body
    run = found["run"]
    assert (run["total_jobs"], run["completed_jobs"], run["failed_jobs"]) == (3, 2, 1)
    assert sorted(job["job_id"] for job in found["jobs"]) == [1, 2, 3]
    assert found["attempts"] == [1]
    assert not [name for name in run if name.endswith("job_ids") or name in ("PK", "SK", "ttl")]


def test_the_newest_attempt_is_meant_unless_one_is_named(api: Client, live: Live) -> None:
    live(1)
    live(2, run_attempt=2)
    live(3, run_attempt=5)
    newest, named = api.get(f"{HERE}/runs/{RUN}").body, api.get(f"{HERE}/runs/{RUN}", run_attempt=2).body
    assert (newest["run"]["run_attempt"], newest["attempts"]) == (5, [1, 2, 5])
    assert [job["job_id"] for job in named["jobs"]] == [2]
    assert [job["job_id"] for job in api.get(f"{HERE}/jobs", run_id=RUN).body["items"]] == [3]


def test_an_unknown_run_or_attempt_is_404(api: Client, live: Live) -> None:
    live(1)
    assert api.get(f"{HERE}/runs/5").status == 404
    response = api.get(f"{HERE}/runs/{RUN}", run_attempt=3)
    assert response.body["detail"] == f"Attempt 3 of run {RUN} was not found in installation {INSTALLATION}"


def test_without_a_github_app_nothing_can_be_run_again(api: Client, live: Live) -> None:
    live(1, conclusion="failure")
    response = api.post(f"{HERE}/runs/{RUN}/rerun")
    assert response.status == 409
    assert "no GitHub App" in response.body["detail"]
    assert api.post(f"{HERE}/runs/5/rerun").status == 404


def test_a_rerun_of_something_older_than_what_is_there_is_a_conflict(api: Client, live: Live) -> None:
    live(1, conclusion="failure")
    live(2, run_attempt=2)
    response = api.post(f"{HERE}/runs/{RUN}/rerun", {"run_attempt": 1})
    assert (response.status, response.body["detail"]) == (409, f"The newest attempt of run {RUN} is 2, not 1")


def test_a_deployment_has_its_jobs(api: Client, live: Live) -> None:
    live(2, until=QUEUED_AGAIN)
    live(1, until=QUEUED_AGAIN)
    found = api.get(f"{HERE}/deployments/{DEPLOYMENT}").body
    assert (found["status"], found["environment"], found["job_ids"]) == ("pending", "production", [1, 2])
    assert api.get(f"{HERE}/deployments/5").status == 404


def test_waiting_jobs_are_grouped_and_forgotten_ones_are_marked(api: Client, live: Live) -> None:
    live(1, until=WAITING)
    live(2, until=WAITING)
    path = f"{HERE}/approvals/waiting"
    (waiting,) = api.get(path).body["items"]
    assert (waiting["repo_full_name"], waiting["run_id"], waiting["job_ids"]) == (REPO, RUN, [1, 2])
    assert waiting["forgotten"] is False
    two_days_later = replace(api, now_ms=api.now_ms + 2 * 86_400_000)
    assert two_days_later.get(path).body["items"][0]["forgotten"] is True


def test_stuck_jobs_are_listed_with_advice_longest_first(api: Client, live: Live) -> None:
    live(1, until=QUEUED)
    live(2, until=WAITING, created_at="2025-01-13T10:00:00Z")
    live(3, until=IN_PROGRESS)
    live(4, until=COMPLETED)
    found = api.get(f"{HERE}/stuck").body["items"]
    assert [(each["kind"], each["job"]["job_id"]) for each in found] == [("waiting", 2), ("queued", 1)]
    assert found[1]["seconds"] == 7199
    assert "runner" in found[1]["advice"]
