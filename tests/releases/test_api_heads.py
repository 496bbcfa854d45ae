"""Heads and environments over the API: pages, one branch, one environment, and the DORA figures."""

from typing import Any

import pytest

from tests.api.client import TOKENS, Client
from tests.api.conftest import ELSEWHERE
from tests.releases.api_scene import HERE, UI, api, client, deployment, deployments, ledger, run, runs, world
from tests.support.webhooks import INSTALLATION, QUEUED, receipt

__all__ = ["api", "client", "ledger", "world"]

A, B, C = "a" * 40, "b" * 40, "c" * 40
PATHS = ("heads", "heads/acme/ui", "environments", "environments/acme/ui?environment=production", "dora")


def every(client: Client, path: str, **query: Any) -> list[Any]:
    """The items of all pages."""
    found, cursor = [], None
    while True:
        page = client.get(f"{HERE}/{path}", cursor=cursor, **query)
        assert page.status == 200, page.body
        found += page.body["items"]
        cursor = page.body["next_cursor"]
        if cursor is None:
            return found


def test_heads_are_those_of_default_branches(client: Client) -> None:
    runs(run(1), run(2, "failure"), run(3, None), run(4, head_branch="feature"))
    (found,) = client.get(f"{HERE}/heads").body["items"]
    about = {"repo_full_name": UI, "branch": "main", "is_default_branch": True, "workflow_id": 7, "workflow_name": "CI"}
    shown = {name: value for name, value in found.items() if not name.endswith("_run")}
    assert shown == {**about, "state": "red", "since": "2025-01-15T10:02:30.000Z"}
    numbers = [found[name]["run_id"] for name in ("last_run", "last_green_run", "previous_run")]
    assert numbers == [3, 1, 2]
    assert found["last_green_run"] == {
        "run_id": 1,
        "run_attempt": 1,
        "head_sha": A,
        "event": "push",
        "actor": "octocat",
        "status": "completed",
        "conclusion": "success",
        "created_at": "2025-01-15T10:01:00.000Z",
        "completed_at": "2025-01-15T10:01:30.000Z",
    }


def test_a_head_without_a_result_has_no_state(client: Client) -> None:
    runs(run(1, None))
    (found,) = client.get(f"{HERE}/heads").body["items"]
    assert (found["state"], found["since"], found["last_green_run"], found["previous_run"]) == (
        "none",
        None,
        None,
        None,
    )


def test_heads_are_those_of_the_default_branch_unless_branches_are_requested(client: Client) -> None:
    runs(run(1), *(run(n, head_branch=branch) for n, branch in ((2, "x"), (3, "y"))), run(4, repo_full_name="acme/ui2"))
    where = [(each["repo_full_name"], each["branch"]) for each in every(client, "heads", limit=1)]
    assert where == [(UI, "main"), ("acme/ui2", "main")]
    assert [each["branch"] for each in every(client, "heads", repo=UI)] == ["main"]
    for limit in (1, 2, 50):
        found = every(client, "heads", repo=UI, all_branches="true", limit=limit)
        assert [each["branch"] for each in found] == ["main", "x", "y"]
    for branch in ("main", "x"):
        assert [each["branch"] for each in every(client, "heads", repo=UI, branch=branch)] == [branch]
    assert every(client, "heads", repo=UI, branch="mai") == []


@pytest.mark.parametrize("query", [{"branch": "main"}, {"all_branches": "true"}])
def test_branches_require_a_repository(client: Client, query: dict[str, str]) -> None:
    refused = client.get(f"{HERE}/heads", **query)
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (400, next(iter(query)))


def test_a_cursor_is_valid_for_its_own_list_only(client: Client) -> None:
    runs(run(1), run(2, repo_full_name="acme/ui2"))
    cursor = client.get(f"{HERE}/heads", limit=1).body["next_cursor"]
    assert client.get(f"{HERE}/heads", limit=1, cursor=cursor).status == 200
    for path, query in (("environments", {}), ("heads", {"repo": UI})):
        refused = client.get(f"{HERE}/{path}", cursor=cursor, **query)
        assert (refused.status, refused.body["errors"][0]["parameter"]) == (400, "cursor")


def test_the_grid_of_a_branch_has_its_newest_commits_with_the_runs_of_each_workflow(client: Client) -> None:
    runs(run(1, sha=C), run(3, sha=A), run(5, "failure", B, head_committed_at="2025-01-15T09:00:00.000Z"))
    runs(run(4, sha=A, workflow_id=8), run(6, None, B, workflow_id=8))
    found = client.get(f"{HERE}/heads/acme/ui", limit=2).body
    assert (found["branch"], found["truncated"]) == ("main", False)
    assert [(each["workflow_id"], each["state"]) for each in found["workflows"]] == [(7, "red"), (8, "green")]
    shown = [
        (each["head_sha"], each["committed_at"], [(one["workflow_id"], one["run_id"]) for one in each["runs"]])
        for each in found["commits"]
    ]
    assert shown == [(B, "2025-01-15T09:00:00.000Z", [(8, 6), (7, 5)]), (A, None, [(8, 4), (7, 3)])]


def test_without_a_branch_the_default_one_is_shown_even_if_it_was_renamed(client: Client) -> None:
    runs(run(5, head_branch="master", default_branch="master"), run(9), run(10, head_branch="x"))
    assert client.get(f"{HERE}/heads/acme/ui").body["branch"] == "main"
    assert client.get(f"{HERE}/heads/acme/ui", branch="x").body["branch"] == "x"
    unknown = client.get(f"{HERE}/heads/acme/ui", branch="y")
    assert (unknown.status, "branch y of acme/ui" in unknown.body["detail"]) == (404, True)
    assert client.get(f"{HERE}/heads/acme/other").status == 404


def test_environments_are_listed_with_what_is_deployed(client: Client) -> None:
    deployments(
        deployment(1, succeeded_at="2025-01-14T10:00:00.000Z", version="1.4.0"),
        deployment(2, B, failed_at="2025-01-15T10:00:00.000Z"),
        deployment(3, environment="staging"),
        deployment(4, repo_full_name="acme/web", environment="eu", is_production=True),
    )
    found = every(client, "environments", limit=1)
    shown = [(each["repo_full_name"], each["environment"], each["is_production"]) for each in found]
    assert shown == [(UI, "production", True), (UI, "staging", False), ("acme/web", "eu", True)]
    assert (found[0]["current"]["version"], found[0]["since"]) == ("1.4.0", "2025-01-14T10:00:00.000Z")
    assert (found[0]["latest"]["deployment_id"], found[0]["latest"]["state"]) == (2, "failure")
    assert (found[1]["current"], found[1]["is_active"], found[1]["rollback_targets"]) == (None, False, [])
    assert len(every(client, "environments", repo=UI)) == 2


def test_one_environment_has_its_deployments_newest_first(client: Client) -> None:
    name = "eu#1 %"
    deployments(*(deployment(n, environment=name, succeeded_at=f"2025-01-1{n}T10:00:00.000Z") for n in (1, 2, 3)))
    first = client.get(f"{HERE}/environments/acme/ui", environment=name, limit=2).body
    assert [each["deployment_id"] for each in first["deployments"]] == [3, 2]
    rest = client.get(f"{HERE}/environments/acme/ui", environment=name, limit=2, cursor=first["next_cursor"]).body
    assert ([each["deployment_id"] for each in rest["deployments"]], rest["next_cursor"]) == ([1], None)
    assert client.get(f"{HERE}/environments/acme/ui", environment="none").status == 404
    missing = client.get(f"{HERE}/environments/acme/ui")
    assert (missing.status, missing.body["detail"]) == (400, "environment is missing")


def test_dora_figures_are_those_of_production(client: Client) -> None:
    deployments(
        deployment(1, A, succeeded_at="2025-01-10T10:00:00.000Z"),
        deployment(2, B, succeeded_at="2025-01-11T10:00:00.000Z"),
        deployment(3, A, succeeded_at="2025-01-11T12:00:00.000Z"),
        deployment(4, C, failed_at="2025-01-12T10:00:00.000Z"),
        deployment(5, C),
        deployment(6, repo_full_name="acme/api", environment="staging", succeeded_at="2025-01-11T12:00:00.000Z"),
    )
    runs(run(1, sha=B, head_committed_at="2025-01-11T09:00:00.000Z"))
    body = client.get(f"{HERE}/dora", since="10d", bucket="week").body
    (found,) = body["items"]
    assert (body["since"], body["truncated"]) == ("2025-01-05T12:00:00.000Z", False)
    assert (found["repo_full_name"], found["environment"], found["deployments"]) == (UI, "production", 3)
    assert found["deployments_per_day"] == pytest.approx(0.3)
    assert found["lead_time_in_ms"] == {"p50": 3_600_000, "p90": 3_600_000, "count": 1}
    assert (found["failed_deployments"], found["rolled_back_deployments"]) == (1, 1)
    assert found["change_failure_rate"] == 0.5
    assert found["time_to_restore_in_ms"] == {"p50": 7_200_000, "p90": 7_200_000, "count": 1}
    assert [each["deployments"] for each in found["over_time"]] == [0, 3, 0]
    staging = client.get(f"{HERE}/dora", environment="staging").body["items"]
    assert [(each["repo_full_name"], each["deployments"]) for each in staging] == [("acme/api", 1)]
    assert client.get(f"{HERE}/dora", repo="acme/api").body["items"] == []


def test_dora_figures_reach_as_far_back_as_deployments_are_kept(client: Client) -> None:
    assert client.get(f"{HERE}/dora", since="90d").status == 200
    refused = client.get(f"{HERE}/dora", since="2024-10-16T12:00:00Z")
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (400, "since")
    refused = client.get(f"{HERE}/dora", since="100d", until="95d")
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (400, "until")


def test_the_default_range_is_shortened_to_the_days_that_are_kept(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELEASES_RETENTION_DAYS", "14")
    assert client.get(f"{HERE}/dora").body["since"] == "2025-01-01T12:00:00.000Z"
    assert client.get(f"{HERE}/dora", since="90d").body["since"] == "2025-01-01T12:00:00.000Z"


def test_each_request_reads_what_it_shows_and_nothing_else(client: Client) -> None:
    """The engine counts one unit for each call."""
    runs(run(1), run(2, workflow_id=8))
    deployments(deployment(1, succeeded_at="2025-01-11T12:00:00.000Z"), deployment(2, environment="staging"))
    assert client.get(f"{HERE}/counts").status == 200  # installations are read once
    assert client.get(f"{HERE}/heads").units == 1
    assert client.get(f"{HERE}/heads/acme/ui").units == 1 + 2 + 1
    assert client.get(f"{HERE}/environments").units == 1
    assert client.get(f"{HERE}/environments/acme/ui", environment="production").units == 2
    assert client.get(f"{HERE}/dora").units == 1 + 1 + 1


@pytest.mark.parametrize("path", PATHS)
def test_another_installation_sees_nothing(client: Client, path: str) -> None:
    runs(run(1))
    deployments(deployment(1, succeeded_at="2025-01-11T12:00:00.000Z"))
    where, _, query = path.partition("?")
    given = dict([query.split("=")]) if query else {}
    response = client.with_token(TOKENS["scoped"]).get(f"{HERE}/{where}", **given)
    assert (response.status, response.body["detail"]) == (404, f"Installation {INSTALLATION} was not found")
    assert client.get(f"{HERE}/{where}".replace(str(INSTALLATION), str(ELSEWHERE)), **given).status == 404


@pytest.mark.parametrize("path", ["heads", "heads/acme/ui", "environments", "environments/acme/ui", "dora"])
def test_without_the_setting_every_request_is_404(api: Client, ledger: Any, path: str) -> None:
    ledger.record(receipt(QUEUED))
    response = api.get(f"{HERE}/{path}")
    assert response.status == 404
    assert "the setting releases turns them on" in response.body["detail"]


@pytest.mark.parametrize("path", ["heads/acme/..", "heads/a b/ui", "environments/acme%2Fui/x", "heads/acme"])
def test_hostile_repositories_are_refused(client: Client, path: str) -> None:
    assert client.get(f"{HERE}/{path}", environment="x").status in (400, 404)
