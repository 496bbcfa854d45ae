"""Statistics, counts, repositories and pools, and what they cost to read."""

import pytest
from runledger.recording.ledger import Ledger
from runledger.runners.tracker import RunnerTracker
from runledger.tables.runners import RunnersTable

from tests.api.client import Client
from tests.api.conftest import Live
from tests.functions.conftest import World
from tests.support.ledgers import RUNNERS
from tests.support.runner_events import SCOPE, launcher, publish
from tests.support.webhooks import IN_PROGRESS, INSTALLATION, JOB, QUEUED, REPO, WAITING

HERE = f"/v1/installations/{INSTALLATION}"


def test_statistics_count_the_jobs_of_the_given_repository_only(api: Client, live: Live) -> None:
    for job_id in range(1, 5):
        live(job_id)
    live(5, conclusion="failure")
    live(6, until=IN_PROGRESS)
    live(7, until=WAITING)
    found = api.get(f"{HERE}/statistics", repo=REPO, since="1d").body
    assert found["jobs"] == 7
    assert found["by_status"] == {"completed": 5, "in_progress": 1, "waiting": 1}
    assert found["by_conclusion"] == {"success": 4, "failure": 1}
    assert found["success_rate"] == 0.8
    assert found["duration_seconds"]["count"] == 5
    assert abs(found["duration_seconds"]["p50"] - 615) <= 6.15
    assert found["duration_seconds"]["max"] == 615
    assert found["queue_seconds"]["count"] == 0  # each waited for an approval whose time isn't reported
    running = 2 * 3600 - 150  # since 10:02:30, until noon
    assert found["usage_in_seconds"] == 5 * 615 + running
    assert (found["usage_in_dollars"], found["unpriced_seconds"]) == (None, found["usage_in_seconds"])
    assert found["truncated"] is False
    points = {point["start"]: point for point in found["series"]}
    assert len(points) == 24
    assert points["2025-01-15T10:00:00.000Z"]["completed"] == 5
    assert points["2025-01-15T11:00:00.000Z"]["queue_p50"] is None


def test_statistics_of_an_installation_are_those_of_all_its_repositories(
    api: Client, ledger: Ledger, live: Live
) -> None:
    live(1)
    live(2, until=QUEUED)
    assert ledger
    whole, of_one = (api.get(f"{HERE}/statistics", since="1d", repo=repo).body for repo in (None, REPO))
    assert whole == of_one


def test_statistics_of_nothing_are_zeros_and_nulls(api: Client, live: Live) -> None:
    live(1)
    found = api.get(f"{HERE}/statistics", repo="some/other").body
    assert (found["jobs"], found["success_rate"], found["queue_seconds"]["p50"]) == (0, None, None)
    assert len(found["series"]) == 8


@pytest.mark.parametrize("path", ["statistics", "pools"])
@pytest.mark.parametrize(
    ("span", "parameter"),
    [
        ({"since": "2025-02-15"}, "since"),
        ({"since": "9998-12-01"}, "since"),
        ({"since": "1d", "until": "9999-12-31"}, "until"),
        ({"since": "9999-12-30", "until": "9999-12-31"}, "since"),
    ],
)
def test_a_range_in_the_future_is_refused(
    api: Client, live: Live, path: str, span: dict[str, str], parameter: str
) -> None:
    live(1)
    response = api.get(f"{HERE}/{path}", **span)
    assert (response.status, response.body["errors"][0]["parameter"]) == (400, parameter)


def test_counts_are_by_status(api: Client, live: Live) -> None:
    live(1, until=QUEUED)
    live(2, until=QUEUED)
    live(3, until=IN_PROGRESS)
    live(4)
    live(5, created_at="2025-01-10T10:00:00Z")  # and completed today
    live(6, created_at="2025-01-10T10:00:00Z", started_at="2025-01-10T10:00:00Z", completed_at="2025-01-10T10:05:00Z")
    expected = {"queued": 2, "waiting": 0, "scheduled": 0, "in_progress": 1, "completed_24h": 2}
    assert api.get(f"{HERE}/counts").body == expected


def test_counts_of_open_jobs_read_no_completed_job(api: Client, live: Live) -> None:
    live(1, until=QUEUED)
    for completed in range(2, 30):
        live(completed)
    units = []
    for each in ("true", "false"):
        found = api.get(f"{HERE}/counts", completed=each)
        units.append(found.units)
        assert (found.body["queued"], found.body.get("completed_24h")) == (1, 28 if each == "true" else None)
    with_completed, without = units
    assert with_completed > without


def test_repositories_are_those_with_jobs_in_the_range(api: Client, live: Live) -> None:
    live(1)
    live(2)
    found = api.get(f"{HERE}/repositories").body
    assert (found["items"], found["truncated"]) == ([{"repo_full_name": REPO, "jobs": 2}], False)
    assert api.get(f"{HERE}/repositories", since="1h").body["items"] == []


def test_a_pool_shows_how_busy_it_is(api: Client, world: World, ledger: Ledger, live: Live) -> None:
    table = RunnersTable(world.dynamodb, RUNNERS, retention_days=14)
    runners = RunnerTracker(table=table, record=ledger.record, scope=SCOPE)
    for job_id in (1, 2, 3):
        runner_id = f"i-0000000000000000{job_id}"
        live(job_id, until=QUEUED)
        publish(launcher("runner_scheduled", job_id=job_id, runner_id=runner_id), runners)
    live(1, until=IN_PROGRESS, runner_name="i-00000000000000001")
    (pool,) = api.get(f"{HERE}/pools", since="1d").body["items"]
    assert (pool["pool_name"], pool["runners_active"], pool["busy"]) == ("small-arm64", 3, 1)
    assert abs(pool["utilisation"] - 1 / 3) < 0.001
    assert pool["spot_share"] is None
    live(1, runner_name="i-00000000000000001")
    (pool,) = api.get(f"{HERE}/pools", since="1d").body["items"]
    assert (pool["jobs"], pool["busy"], pool["seconds_used"], pool["spot_share"]) == (1, 0, 615, 1)


def test_installations_are_listed(api: Client, live: Live) -> None:
    live(1)
    (found,) = api.get("/v1/installations").body["items"]
    assert (found["installation_id"], found["status"], found["org_name"]) == (INSTALLATION, "active", "lineville")


def test_every_response_has_its_read_units(api: Client, live: Live) -> None:
    live(JOB)
    first, second = (api.get(f"{HERE}/jobs/{JOB}").units for _ in range(2))
    assert first > second > 0  # the installation was looked up by the first one
    assert api.get(f"{HERE}/jobs", repo=REPO).units > second
