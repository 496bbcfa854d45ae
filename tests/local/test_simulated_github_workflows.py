"""Dispatches of the simulated GitHub, and the client's calls on them."""

import json

import pytest
from runledger.model.errors import NoResponseError, RateLimited
from runledger_github.app import GitHubApp
from runledger_github.errors import NotFound, Refused
from runledger_github.installation import Installation
from runledger_github.retries import RetryLimits

from local.github import SimulatedGitHub
from local.github.credentials import APP_ID
from tests.local.conftest import INSTALLATION
from tests.local.github_client import Client, ManualClock
from tests.local.webhook_receiver import WebhookReceiver

WORKFLOW = "/repos/acme/web/actions/workflows/release.yml"


@pytest.fixture
def workflow(github: SimulatedGitHub) -> None:
    github.state.put("workflows", 5, repository="acme/web", path=".github/workflows/release.yml", name="Release")


@pytest.fixture
def installation(github: SimulatedGitHub, clock: ManualClock) -> Installation:
    secret = json.dumps({"app_id": APP_ID, "private_key": github.state.credentials.private_key})
    app = GitHubApp.from_secret(
        secret,
        api_url=github.url,
        limits=RetryLimits(tries=2, seconds=0),
        clock=clock.now.timestamp,
        sleep=lambda _: None,
    )
    return app.installation(INSTALLATION)


def dispatched(github: SimulatedGitHub) -> list[int]:
    return [run.id for run in github.state.runs.values() if run.event == "workflow_dispatch"]


@pytest.mark.usefixtures("workflow")
def test_a_workflow_is_found_by_its_id_and_by_its_file(acme: Client) -> None:
    assert acme.get(WORKFLOW).document["id"] == 5
    assert acme.get("/repos/acme/web/actions/workflows/5").document["path"] == ".github/workflows/release.yml"
    assert acme.get("/repos/acme/web/actions/workflows/other.yml").status == 404
    assert acme.get("/repos/acme/web").document["default_branch"] == "main"


@pytest.mark.usefixtures("workflow")
def test_a_dispatch_names_its_run_on_request(acme: Client, github: SimulatedGitHub) -> None:
    assert acme.post(f"{WORKFLOW}/dispatches", ref="main").status == 204
    reply = acme.post(f"{WORKFLOW}/dispatches", ref="main", return_run_details=True)
    assert reply.status == 200
    assert reply.document["workflow_run_id"] == dispatched(github)[-1]
    assert acme.post(f"{WORKFLOW}/dispatches").status == 422


@pytest.mark.usefixtures("workflow")
def test_a_dispatch_is_followed_by_the_webhook_of_its_run(
    acme: Client, github: SimulatedGitHub, receiver: WebhookReceiver
) -> None:
    run_id = acme.post(f"{WORKFLOW}/dispatches", ref="main", return_run_details=True).document["workflow_run_id"]
    log = Client(github).get("/_simulation/deliveries").document
    assert [(row["event"], row["action"]) for row in log] == [("workflow_run", "requested")]
    (received,) = receiver.received
    run = json.loads(received.body)["workflow_run"]
    assert (run["id"], run["event"]) == (run_id, "workflow_dispatch")


@pytest.mark.usefixtures("workflow")
def test_a_run_ends_as_its_workflow_does_and_has_the_newest_commit_of_the_branch(
    acme: Client, github: SimulatedGitHub, receiver: WebhookReceiver
) -> None:
    commit = {"head_sha": "a" * 40, "committed_at": "2025-01-14T10:00:00Z"}
    github.state.put("runs", 1, repository="acme/web", **commit)
    github.state.put("runs", 2, repository="acme/web", head_branch="other", head_sha="b" * 40)
    github.state.put("workflows", 5, conclusion="failure")
    run_id = acme.post(f"{WORKFLOW}/dispatches", ref="main", return_run_details=True).document["workflow_run_id"]
    assert Client(github).get("/_simulation/deliveries").status == 200
    sent = [json.loads(each.body) for each in receiver.received]
    assert [(each["action"], each["workflow_run"]["conclusion"]) for each in sent] == [
        ("requested", None),
        ("completed", "failure"),
    ]
    run = acme.get(f"/repos/acme/web/actions/runs/{run_id}").document
    assert (run["status"], run["head_sha"], run["head_commit"]["timestamp"]) == ("completed", *commit.values())


@pytest.mark.usefixtures("workflow")
@pytest.mark.parametrize(("details", "is_named"), [("returned", True), ("ignored", False), ("rejected", False)])
def test_the_client_dispatches_once_on_servers_of_any_age(
    github: SimulatedGitHub, installation: Installation, details: str, is_named: bool
) -> None:
    github.state.configure(run_details=details)
    found = installation.dispatch_workflow("acme/web", "release.yml", ref="main")
    (run_id,) = dispatched(github)
    assert found.get("workflow_run_id") == (run_id if is_named else None)


@pytest.mark.usefixtures("workflow")
def test_a_lost_response_is_not_repeatable_and_the_call_is_made_once(
    github: SimulatedGitHub, installation: Installation
) -> None:
    github.state.add_fault(kind="lost_response", path="*/dispatches")
    with pytest.raises(NoResponseError) as error:
        installation.dispatch_workflow("acme/web", "release.yml", ref="main")
    assert not error.value.repeatable
    assert len(dispatched(github)) == 1


@pytest.mark.usefixtures("workflow")
def test_refusals_and_limits_dispatch_nothing(github: SimulatedGitHub, installation: Installation) -> None:
    with pytest.raises(NotFound):
        installation.dispatch_workflow("acme/web", "other.yml", ref="main")
    github.state.put("workflows", 5, state="disabled_manually")
    with pytest.raises(Refused, match="disabled"):
        installation.dispatch_workflow("acme/web", "release.yml", ref="main")
    github.state.add_fault(kind="secondary_limit", path="*/dispatches")
    with pytest.raises(RateLimited):
        installation.dispatch_workflow("acme/web", "release.yml", ref="main")
    assert dispatched(github) == []
