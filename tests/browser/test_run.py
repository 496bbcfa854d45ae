"""The chain of jobs that decided when a run ended, which GitHub does not tell."""

from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.sync_api import expect

from tests.browser.conftest import Open

BEGIN = datetime(2025, 1, 15, 10, tzinfo=UTC)
RUN = {"installation_id": 1, "run_id": 7, "run_attempt": 1, "status": "completed", "conclusion": "success"}


def job(job_id: int, name: str, *, created: int, started: int, completed: int, **more: Any) -> dict[str, Any]:
    """Times are seconds from the beginning of the run."""
    moments = {"created_at": created, "started_at": started, "completed_at": completed}
    at = {name: f"{BEGIN + timedelta(seconds=each):%Y-%m-%dT%H:%M:%S}.000Z" for name, each in moments.items()}
    about = {"job_id": job_id, "job_name": name, "status": "completed", "conclusion": "success"}
    return {"installation_id": 1, "run_id": 7, "received_at": at["created_at"], **about, **at, **more}


JOBS = [
    job(1, "lint", created=0, started=5, completed=60),
    job(2, "unit tests", created=0, started=10, completed=300),
    job(3, "build", created=301, started=320, completed=500),
    job(4, "scan", created=502, started=505, completed=560),
    job(5, "deploy", created=502, started=540, completed=700),
    job(6, "notify", created=700, started=700, completed=700, conclusion="skipped"),
]


def test_the_critical_path_goes_back_from_the_last_job_to_whom_each_waited_for(open_tab: Open) -> None:
    tab = open_tab().sign_in()
    answer = {"run": {**RUN, "workflow_name": "Release"}, "jobs": JOBS, "attempts": [1]}
    tab.page.route("**/installations/1/runs/7", lambda route: route.fulfill(json=answer))
    page = tab.show(1, "run", part=7).page
    expect(page.locator(".gantt-chain")).to_have_text("critical path: unit tests → build → deploy")
    assert page.locator(".gantt-names .critical bdi").all_inner_texts() == ["unit tests", "build", "deploy"]
    assert page.locator(".gantt-path").count() == 3


def test_a_skipped_job_has_no_bar_and_comes_last(open_tab: Open) -> None:
    tab = open_tab().sign_in()
    answer = {"run": RUN, "jobs": JOBS, "attempts": [1, 2]}
    tab.page.route("**/installations/1/runs/7", lambda route: route.fulfill(json=answer))
    page = tab.show(1, "run", part=7).page
    assert page.locator(".gantt-names bdi").all_inner_texts()[-1] == "notify"
    assert page.locator(".gantt-work").count() == 5
    expect(page.get_by_role("link", name="Attempt 2")).to_be_visible()
