"""Approvals that are still missing are found, with GitHub's current state."""

import json
from types import SimpleNamespace

import pytest

from tests.support import messages
from tests.support.ledgers import RUNNERS
from tests.support.reconciler_scene import Scene, ago
from tests.support.webhooks import DEPLOYMENT, REPO, RUN, WAITING, http_event, payload


@pytest.fixture(params=["calls GitHub", "has no App"])
def calls_github(request: pytest.FixtureRequest, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param == "has no App":
        none = scene.world.secrets.create_secret(Name="none", SecretString="{}")["ARN"]
        monkeypatch.setenv("GITHUB_APP", none)
    return bool(request.param == "calls GitHub")


def wait(scene: Scene, job_id: int, *, created_at: str, deployment_id: int = DEPLOYMENT) -> None:
    message = payload(WAITING, job_id=job_id, created_at=created_at)
    message["deployment"] = {"id": deployment_id, "environment": "production"}
    sent = scene.world.invoke("webhook_intake", http_event(json.dumps(message).encode(), guid=f"waiting {job_id}"))
    assert sent["statusCode"] == 202
    scene.on_github(job_id, "waiting", created_at=created_at)


def deployment(scene: Scene, *states: str) -> None:
    statuses = [{"state": state} for state in states]
    scene.github.state.put("deployments", DEPLOYMENT, repository=REPO, environment="production", statuses=statuses)


def test_an_approval_that_is_pending_for_too_long_is_listed_once_for_all_its_jobs(
    scene: Scene, calls_github: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment(scene, "waiting")
    long_ago = ago(hours=30)
    wait(scene, 1, created_at=long_ago)
    wait(scene, 2, created_at=long_ago)
    wait(scene, 3, created_at=ago(minutes=1), deployment_id=DEPLOYMENT + 1)
    response = scene.reconcile()
    assert response["summary"]["forgotten_approvals"] == 1
    assert f"approval of production for run {RUN} of {REPO}: 2 jobs waiting since {long_ago[:10]}" in response["text"]
    assert '"ForgottenApprovals":1,' in capsys.readouterr().out
    assert (sum(scene.github.state.calls.values()) > 0) is calls_github


def test_an_approval_that_was_given_is_not_listed_if_github_can_be_called(scene: Scene, calls_github: bool) -> None:
    deployment(scene, "waiting", "in_progress")
    wait(scene, 1, created_at=ago(hours=30))
    assert scene.reconcile()["summary"]["forgotten_approvals"] == (0 if calls_github else 1)


@pytest.mark.parametrize("status", [403, 404, 502])
def test_an_approval_that_github_does_not_show_hides_no_other(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("GITHUB_PATIENCE_SECONDS", "0")
    deployment(scene, "waiting")
    wait(scene, 1, created_at=ago(hours=30))
    wait(scene, 2, created_at=ago(hours=29), deployment_id=DEPLOYMENT + 1)
    scene.github.state.add_fault(kind="error", status=status, path=f"*/deployments/{DEPLOYMENT}", times=None)
    response = scene.reconcile()
    assert (response["summary"]["forgotten_approvals"], response["outcome"]) == (2, "success")


@pytest.mark.parametrize("without", ["budget", "time"])
def test_without_budget_or_time_the_table_counts_and_github_is_not_called(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, without: str
) -> None:
    if without == "budget":
        monkeypatch.setenv("GITHUB_BUDGET_FOR_OTHERS_PERCENT", "100")
    deployment(scene, "waiting")
    wait(scene, 1, created_at=ago(hours=30))
    begin = {"PK": {"S": "next_pass"}, "SK": {"S": "full"}, "begin_with": {"S": "approvals"}}
    scene.world.dynamodb.put_item(TableName=RUNNERS, Item=begin)
    left = 600_000 if without == "budget" else 60_000
    context = SimpleNamespace(aws_request_id="hurried", get_remaining_time_in_millis=lambda: left)
    response = scene.world.start("reconciler").handler({"pass": "full"}, context)
    assert response["summary"]["forgotten_approvals"] == 1
    assert scene.calls("deployments") == 0


def test_an_approval_is_forgotten_since_its_request_and_not_since_the_job_was_created(scene: Scene) -> None:
    deployment(scene, "waiting")
    wait(scene, 1, created_at=ago(hours=30))
    event, review = messages.review("requested", environment="production", since=ago(hours=2))
    sent = scene.world.invoke("webhook_intake", http_event(json.dumps(review).encode(), guid="review", event=event))
    assert sent["statusCode"] == 202
    assert scene.reconcile()["summary"]["forgotten_approvals"] == 0
