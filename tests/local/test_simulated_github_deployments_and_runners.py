"""Approvals and runners, as the simulated GitHub shows them."""

import pytest

from local.github import SimulatedGitHub
from tests.local.github_client import Client


def test_pending_deployments_end_with_the_approval(github: SimulatedGitHub, acme: Client) -> None:
    pending = "/repos/acme/web/actions/runs/1/pending_deployments"
    github.state.put("runs", 1, repository="acme/web")
    github.state.put(
        "deployments", 3, repository="acme/web", environment="prod", run_id=1, awaits_approval=True, reviewers=["hubot"]
    )
    [waiting] = acme.get(pending).document
    assert waiting["environment"]["name"] == "prod"
    assert [one["reviewer"]["login"] for one in waiting["reviewers"]] == ["hubot"]
    github.state.put("deployments", 3, awaits_approval=False)
    assert acme.get(pending).document == []


def test_deployment_statuses_are_listed_newest_first(github: SimulatedGitHub, acme: Client) -> None:
    deployment = "/repos/acme/web/deployments/3"
    moments = [{"state": "pending"}, {"state": "success", "created_at": "2025-01-15T11:00:00Z"}]
    github.state.put("deployments", 3, repository="acme/web", environment="prod", statuses=moments)
    assert acme.get(deployment).document["environment"] == "prod"
    listed = acme.get(f"{deployment}/statuses").document
    assert [(one["state"], one["created_at"]) for one in listed] == [
        ("success", "2025-01-15T11:00:00Z"),
        ("pending", "2025-01-15T10:00:00Z"),
    ]
    assert acme.get("/repos/acme/api/deployments/3").status == 404


@pytest.mark.parametrize(("scope", "path"), [("acme", "/orgs/acme"), ("acme/web", "/repos/acme/web")])
def test_runners_belong_to_an_organisation_or_a_repository(
    github: SimulatedGitHub, acme: Client, scope: str, path: str
) -> None:
    runners = f"{path}/actions/runners"
    github.state.put("runners", 5, scope=scope, name="i-0abc", labels=["self-hosted", "gpu"])
    github.state.put("runners", 6, scope="acme/other", name="i-0def")
    assert [runner["name"] for runner in acme.get(runners).document["runners"]] == ["i-0abc"]
    assert acme.get(f"{runners}?name=i-0def").document["total_count"] == 0
    assert [label["type"] for label in acme.get(f"{runners}/5").document["labels"]] == ["read-only", "custom"]
    assert acme.get(f"{runners}/6").status == 404


@pytest.mark.parametrize(("scope", "path"), [("acme", "/orgs/acme"), ("acme/web", "/repos/acme/web")])
def test_only_an_idle_runner_can_be_deleted(github: SimulatedGitHub, acme: Client, scope: str, path: str) -> None:
    runner = f"{path}/actions/runners/5"
    github.state.put("runners", 5, scope=scope, name="i-0abc", busy=True)
    refusal = acme.delete(runner)
    assert (refusal.status, "is still running a job" in refusal.document["message"]) == (422, True)
    github.state.put("runners", 5, busy=False)
    assert acme.delete(runner).status == 204
    assert acme.delete(runner).status == 404
