"""Approvals that nobody gave are found, with what GitHub says now."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from local.github import SimulatedGitHub
from local.github.credentials import APP_ID
from tests.functions.conftest import World
from tests.webhooks import DEPLOYMENT, INSTALLATION, REPO, WAITING, http_event, payload

LONG_AGO = (datetime.now(UTC) - timedelta(hours=30)).isoformat(timespec="seconds")
JUST_NOW = datetime.now(UTC).isoformat(timespec="seconds")


@pytest.fixture
def github(tmp_path: Path) -> Iterator[SimulatedGitHub]:
    with SimulatedGitHub(key_file=tmp_path / "app.pem") as simulated:
        simulated.state.put("installations", INSTALLATION, account=REPO.partition("/")[0])
        yield simulated


@pytest.fixture(params=["asks GitHub", "has no App"])
def asks(
    request: pytest.FixtureRequest, world: World, github: SimulatedGitHub, monkeypatch: pytest.MonkeyPatch
) -> bool:
    """With an App in the secret, and without one."""
    asks = bool(request.param == "asks GitHub")
    app = {"app_id": str(APP_ID), "private_key": github.state.credentials.private_key} if asks else {}
    secret = world.secrets.create_secret(Name="app", SecretString=json.dumps(app))["ARN"]
    monkeypatch.setenv("GITHUB_APP", secret)
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("FORGOTTEN_APPROVAL_HOURS", "24")
    return asks


def wait(world: World, job_id: int, *, created_at: str, deployment_id: int = DEPLOYMENT) -> None:
    message = payload(WAITING, job_id=job_id, created_at=created_at)
    message["deployment"] = {"id": deployment_id, "environment": "production"}
    body = json.dumps(message).encode()
    assert world.invoke("webhook_intake", http_event(body, guid=f"waiting {job_id}"))["statusCode"] == 202


def forgotten(world: World) -> list[dict[str, Any]]:
    world.start("forgotten_approvals")
    found: list[dict[str, Any]] = json.loads(json.dumps(world.invoke("forgotten_approvals", {})))["forgotten"]
    return found


def test_an_approval_that_is_pending_for_too_long_is_listed_once_with_all_its_jobs(
    world: World, github: SimulatedGitHub, asks: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    github.state.put(
        "deployments", DEPLOYMENT, repository=REPO, environment="production", statuses=[{"state": "waiting"}]
    )
    wait(world, 1, created_at=LONG_AGO)
    wait(world, 2, created_at=LONG_AGO)
    wait(world, 3, created_at=JUST_NOW, deployment_id=DEPLOYMENT + 1)
    (found,) = forgotten(world)
    assert (found["repo_full_name"], found["environment"], found["deployment_id"]) == (REPO, "production", DEPLOYMENT)
    assert sorted(found["job_ids"]) == [1, 2]
    assert '"ForgottenApprovals":[1.0]' in capsys.readouterr().out
    assert (sum(github.state.calls.values()) > 0) is asks


def test_one_that_was_given_without_our_hearing_of_it_is_not_listed(
    world: World, github: SimulatedGitHub, asks: bool
) -> None:
    given = [{"state": "waiting"}, {"state": "in_progress"}]
    github.state.put("deployments", DEPLOYMENT, repository=REPO, environment="production", statuses=given)
    wait(world, 1, created_at=LONG_AGO)
    assert len(forgotten(world)) == (0 if asks else 1)
