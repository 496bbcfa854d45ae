"""Runs and jobs of the simulated GitHub; the client also checks each response against GitHub's OpenAPI document."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from jsonschema import ValidationError

from local.github import SimulatedGitHub
from tests.local.github_client import Client
from tests.local.github_openapi import validate

RUN = "/repos/acme/web/actions/runs/1"


@pytest.mark.parametrize(("field", "wrong"), [("head_sha", None), ("created_at", "yesterday"), ("id", "1"), ("url", 1)])
@pytest.mark.usefixtures("finished_run")
def test_a_response_that_github_would_not_send_is_found(acme: Client, field: str, wrong: Any) -> None:
    document = acme.get(RUN).document
    with pytest.raises(ValidationError):
        validate("GET /repos/{owner}/{repo}/actions/runs/{run_id}", 200, document | {field: wrong})


@pytest.mark.usefixtures("finished_run")
def test_token_does_not_see_what_belongs_to_another_account(github: SimulatedGitHub, anyone: Client) -> None:
    github.state.put("installations", 8, account="globex")
    globex = anyone.as_installation(8)
    assert globex.get(RUN).status == 404
    assert globex.get("/orgs/acme/actions/runners").status == 404


@pytest.mark.usefixtures("finished_run")
def test_run_follows_its_jobs(github: SimulatedGitHub, acme: Client) -> None:
    assert acme.get(RUN).document["conclusion"] == "failure"
    github.state.put("jobs", 12, status="in_progress", conclusion=None)
    assert acme.get(RUN).document["status"] == "in_progress"
    github.state.put("jobs", 12, status="completed", conclusion="cancelled")
    assert acme.get(RUN).document["conclusion"] == "cancelled"
    github.state.put("jobs", 12, conclusion="skipped")
    assert acme.get(RUN).document["conclusion"] == "success"


@pytest.mark.parametrize("status", ["queued", "waiting"])
def test_run_whose_jobs_have_not_started_has_not_started(github: SimulatedGitHub, acme: Client, status: str) -> None:
    github.state.put("runs", 1, repository="acme/web")
    github.state.put("jobs", 11, run_id=1, status=status)
    assert acme.get(RUN).document["status"] == status


def test_run_may_be_given_a_status_of_its_own(github: SimulatedGitHub, acme: Client) -> None:
    github.state.put("runs", 1, repository="acme/web", status="completed", conclusion="timed_out", run_attempt=2)
    assert acme.get(RUN).document["conclusion"] == "timed_out"
    assert acme.get(f"{RUN}/attempts/1").document["conclusion"] == "failure"


def test_queued_job_already_has_a_start_time(github: SimulatedGitHub, acme: Client) -> None:
    github.state.put("runs", 1, repository="acme/web")
    github.state.put("jobs", 11, run_id=1)
    job = acme.get("/repos/acme/web/actions/jobs/11").document
    assert job["started_at"] == job["created_at"]
    assert job["runner_id"] is None


@pytest.mark.usefixtures("finished_run")
def test_job_cancelled_in_the_queue_has_runner_zero_and_no_duration(github: SimulatedGitHub, acme: Client) -> None:
    github.state.put("jobs", 11, conclusion="cancelled", completed_at="2025-01-15T10:05:00Z")
    job = acme.get("/repos/acme/web/actions/jobs/11").document
    assert job["runner_id"] == 0
    assert job["started_at"] == job["completed_at"]


@pytest.mark.usefixtures("finished_run")
def test_rerun_makes_a_new_attempt_with_new_job_ids(acme: Client) -> None:
    assert acme.post(f"{RUN}/rerun-failed-jobs").status == 201
    assert acme.get(RUN).document["run_attempt"] == 2
    assert acme.get(RUN).document["status"] == "in_progress"
    latest = acme.get(f"{RUN}/jobs").document["jobs"]
    assert [(job["name"], job["status"], job["runner_id"]) for job in latest] == [
        ("lint", "completed", 0),
        ("test", "queued", None),
    ]
    assert not {job["id"] for job in latest} & {11, 12}
    assert [job["id"] for job in acme.get(f"{RUN}/attempts/1/jobs").document["jobs"]] == [11, 12]
    assert acme.get(f"{RUN}/jobs?filter=all").document["total_count"] == 4
    assert acme.get(f"{RUN}/attempts/1").document["conclusion"] == "failure"
    assert acme.get(f"{RUN}/attempts/3").status == 404


@pytest.mark.usefixtures("finished_run")
def test_rerun_is_refused_until_the_whole_run_is_finished(github: SimulatedGitHub, acme: Client) -> None:
    github.state.put("jobs", 13, run_id=1, status="in_progress")
    reply = acme.post(f"{RUN}/rerun-failed-jobs")
    assert (reply.status, reply.document["message"]) == (403, "This workflow is already running")


@pytest.mark.usefixtures("finished_run")
def test_rerun_is_refused_where_nothing_failed(github: SimulatedGitHub, acme: Client) -> None:
    github.state.put("jobs", 12, conclusion="success")
    reply = acme.post(f"{RUN}/rerun-failed-jobs")
    assert (reply.status, reply.document["message"]) == (403, "This workflow run cannot be retried")


@pytest.mark.usefixtures("finished_run")
def test_only_one_of_many_simultaneous_reruns_succeeds(acme: Client) -> None:
    with ThreadPoolExecutor(max_workers=8) as callers:
        replies = callers.map(acme.post, [f"{RUN}/rerun-failed-jobs"] * 8)
    assert sorted(reply.status for reply in replies) == [201] + [403] * 7
    assert acme.get(RUN).document["run_attempt"] == 2


@pytest.mark.usefixtures("finished_run")
def test_calls_are_counted_by_route_and_status(acme: Client) -> None:
    route = "POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun-failed-jobs"
    for _ in range(3):
        acme.post(f"{RUN}/rerun-failed-jobs")
    assert acme.get("/_simulation/calls").document[route] == {"201": 1, "403": 2}


def test_jobs_come_in_pages(github: SimulatedGitHub, acme: Client) -> None:
    github.state.put("runs", 1, repository="acme/web")
    for number in range(1, 6):
        github.state.put("jobs", number, run_id=1)
    seen, page = [], f"{RUN}/jobs?per_page=2"
    while page:
        reply = acme.get(page)
        seen.append([job["id"] for job in reply.document["jobs"]])
        page = reply.next_page or ""
    assert seen == [[1, 2], [3, 4], [5]]
    assert 'rel="prev"' in reply.headers["link"]


@pytest.mark.usefixtures("finished_run")
def test_enterprise_server_prefix_works_and_is_kept_in_links(acme: Client) -> None:
    reply = acme.get(f"/api/v3{RUN}/jobs?per_page=1")
    assert reply.next_page is not None
    assert reply.next_page.startswith(f"{acme.github.url}/api/v3{RUN}/jobs?")
    assert acme.get(reply.next_page).document["jobs"][0]["url"].startswith(f"{acme.github.url}/api/v3/repos/")


@pytest.mark.parametrize("path", ["/nothing", f"{RUN}0", f"{RUN}/attempts/x", "/repos/acme/web/actions/jobs/1"])
def test_unknown_things_are_not_found(acme: Client, path: str) -> None:
    assert acme.get(path).document["status"] == "404"
