"""A lost table comes back from the others and from GitHub, and what is there stays as it is."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from runledger.tables.attributes import from_attributes
from runledger.webhooks.readers import dispatcher
from runledger_github.app import GitHubApp
from runledger_github.state import GitHubState

from local.github import SimulatedGitHub
from local.github.credentials import APP_ID
from recovery.rebuild import Found, Rebuild
from tests.simulation.engine import Engine
from tests.support import messages
from tests.support.ledgers import DEPLOYMENTS, EVENTS, JOBS, RUNS, ledger_on
from tests.support.webhooks import COMPLETED, DEPLOYMENT, INSTALLATION, LIFE, QUEUED, REPO, RUN, delivery, receipt

FIRST, SECOND, OPENED = 1, 2, 3
NOW = "2025-01-15T12:00:00.000Z"
ADDED_BY_GITHUB = {"version", "last_updated_at", "inputs", "ttl"}
NOT_IN_HISTORY = {
    *("job_name", "job_html_url", "labels", "custom_properties", "default_branch", "repo_is_private", "environment"),
    "head_sha",  # GitHub's examples of a run and of a job have different ones
}
Tables = dict[str, dict[tuple[str, str], dict[str, Any]]]


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture(autouse=True)
def filled(engine: Engine) -> None:
    """A run with two completed jobs, of which one failed, and one that waits in the queue; and an approval."""
    client: Any = engine
    ledger = ledger_on(client)
    for at, step in enumerate(LIFE):
        for job_id, conclusion in ((FIRST, "success"), (SECOND, "failure")):
            changes: dict[str, Any] = {"conclusion": conclusion} if step == COMPLETED else {}
            ledger.record(receipt(step, at=at, job_id=job_id, guid=f"{step} {job_id}", **changes))
    ledger.record(receipt(QUEUED, job_id=OPENED, guid="queued"))
    for event, message in (messages.run("completed"), messages.review("requested"), messages.review("approved")):
        for entry in dispatcher.read(delivery(message, guid=f"{event} {message['action']}", event=event, at=400)):
            ledger.dispatch(entry)


def tables(engine: Engine) -> Tables:
    return {
        table: {key: from_attributes(item) for key, item in items.items()}
        for table, items in engine.snapshot().items.items()
    }


def lose(engine: Engine, table: str) -> None:
    for key in list(engine.snapshot().items[table]):
        engine.storage.write(table, key, None)


def rebuild(engine: Engine, github: GitHubState | None = None) -> dict[Found, int]:
    client: Any = engine

    def scan(table: str) -> Iterable[dict[str, Any]]:
        return list(tables(engine)[table].values())

    counts = Rebuild(ledger=ledger_on(client), github=github, scan=scan, now=lambda: NOW).everything()
    return {found: count for found, count in counts.items() if count}


def without(item: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}


@pytest.fixture
def state(github: SimulatedGitHub) -> GitHubState:
    github.state.put("runs", RUN, repository=REPO, status="completed", conclusion="failure")
    for job_id, conclusion in ((FIRST, "success"), (SECOND, "failure")):
        github.state.put(
            "jobs",
            job_id,
            run_id=RUN,
            name="test",
            status="completed",
            conclusion=conclusion,
            created_at="2025-01-15T10:00:00Z",
            started_at="2025-01-15T10:02:30Z",
            completed_at="2025-01-15T10:12:45Z",
            runner_id=42,
            runner_name="runs-on--i-0abc1234def567890--x",
        )
    github.state.put("jobs", OPENED, run_id=RUN, name="test", status="queued", created_at="2025-01-15T10:00:00Z")
    secret = {"app_id": str(APP_ID), "private_key": github.state.credentials.private_key}
    return GitHubState(app=GitHubApp.from_secret(json.dumps(secret), api_url=github.url))


def test_lost_jobs_come_back_from_their_history_and_their_run(engine: Engine) -> None:
    before = tables(engine)
    lose(engine, JOBS)
    assert rebuild(engine) == {Found.FROM_HISTORY: 3}
    after = tables(engine)
    assert after[JOBS].keys() == before[JOBS].keys(), "the registry of installations and repositories, too"
    for key, job in before[JOBS].items():
        if key[1] == "v":
            lost = {*NOT_IN_HISTORY, "inputs"}
            assert without(after[JOBS][key], lost) == without(job, lost)
    assert {table: after[table] for table in (EVENTS, RUNS, DEPLOYMENTS)} == {
        table: before[table] for table in (EVENTS, RUNS, DEPLOYMENTS)
    }


def test_github_adds_the_names_that_the_history_omits(engine: Engine, state: GitHubState) -> None:
    before = tables(engine)
    lose(engine, JOBS)
    assert rebuild(engine, state) == {Found.FROM_HISTORY: 3, Found.NAMED: 3}
    for key, job in tables(engine)[JOBS].items():
        if key[1] == "v":
            assert job["job_name"] == "test"
            assert job["labels"]
            same = {*ADDED_BY_GITHUB, *NOT_IN_HISTORY, "head_branch", "workflow_name"}
            assert without(job, same) == without(before[JOBS][key], same)


def test_jobs_whose_history_has_expired_come_back_from_github(engine: Engine, state: GitHubState) -> None:
    before = tables(engine)
    lose(engine, JOBS)
    lose(engine, EVENTS)
    assert rebuild(engine, state) == {Found.FROM_GITHUB: 3}
    figures = (
        "status",
        "conclusion",
        "created_at",
        "started_at",
        "completed_at",
        "usage_in_seconds",
        "run_id",
        "by_run",
    )
    for key, job in tables(engine)[JOBS].items():
        if key[1] == "v":
            assert {name: job.get(name) for name in figures} == {name: before[JOBS][key].get(name) for name in figures}


def test_a_job_that_nothing_is_left_of_is_counted(engine: Engine) -> None:
    lose(engine, JOBS)
    lose(engine, EVENTS)
    assert rebuild(engine) == {Found.LOST: 3}


def test_jobs_without_a_run_come_back_from_their_history(engine: Engine) -> None:
    lose(engine, JOBS)
    lose(engine, RUNS)
    assert rebuild(engine) == {Found.FROM_HISTORY: 3}
    job = tables(engine)[JOBS][f"{INSTALLATION}#{FIRST}", "v"]
    assert (job["status"], job["conclusion"], job["usage_in_seconds"]) == ("completed", "success", 615)


def test_lost_runs_are_counted_again_from_their_jobs(engine: Engine, state: GitHubState) -> None:
    before = tables(engine)
    lose(engine, RUNS)
    assert rebuild(engine, state) == {Found.RUNS: 1}
    key = (f"{INSTALLATION}#{RUN}#1", "v")
    after = tables(engine)
    counters = (
        "total_jobs",
        "completed_jobs",
        "failed_jobs",
        "open_job_ids",
        "done_job_ids",
        "failed_job_ids",
        "status",
    )
    assert {name: after[RUNS][key].get(name) for name in counters} == {
        name: before[RUNS][key].get(name) for name in counters
    }
    assert after[JOBS] == before[JOBS]


def test_lost_deployments_come_back_from_their_jobs(engine: Engine) -> None:
    lose(engine, DEPLOYMENTS)
    assert rebuild(engine)[Found.DEPLOYMENTS] == 1
    found = tables(engine)[DEPLOYMENTS][f"{INSTALLATION}#{DEPLOYMENT}", "v"]
    assert (found["repo_full_name"], found["environment"]) == (REPO, "production")


def test_what_is_there_stays_as_it_is(engine: Engine, state: GitHubState) -> None:
    before = tables(engine)
    assert rebuild(engine, state) == {}
    assert tables(engine) == before


def test_a_rebuild_can_be_repeated(engine: Engine, state: GitHubState) -> None:
    lose(engine, JOBS)
    rebuild(engine, state)
    once = tables(engine)
    assert rebuild(engine, state) == {}
    assert tables(engine) == once


def test_a_webhook_after_the_rebuild_is_recorded_as_before(engine: Engine) -> None:
    lose(engine, JOBS)
    rebuild(engine)
    client: Any = engine
    ledger_on(client).record(receipt(COMPLETED, at=60, job_id=OPENED, guid="completed"))
    ledger_on(client).record(receipt(QUEUED, at=61, job_id=FIRST, guid="late"))
    after = tables(engine)
    assert [after[JOBS][f"{INSTALLATION}#{job}", "v"]["status"] for job in (OPENED, FIRST)] == ["completed"] * 2
    run = after[RUNS][f"{INSTALLATION}#{RUN}#1", "v"]
    assert (run["total_jobs"], run["completed_jobs"], run["failed_jobs"]) == (3, 3, 1)
