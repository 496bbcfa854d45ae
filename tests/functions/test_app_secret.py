"""Warm functions notice an App that is added, and a key that is replaced."""

import json
from pathlib import Path

import pytest
from runledger.model.errors import GitHubRefusal
from runledger_github import wiring
from runledger_github.app import GitHubApp

from local.github import SimulatedGitHub
from local.github.credentials import APP_ID
from tests.functions.conftest import World
from tests.support.settings import forget_wiring


def put(world: World, content: str) -> str:
    made = world.secrets.create_secret(Name="app", SecretString=content)
    return str(made["ARN"])


@pytest.fixture
def app(world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    arn = put(world, "{}")
    monkeypatch.setenv("GITHUB_APP", arn)
    forget_wiring()
    return arn


@pytest.fixture
def key(github: SimulatedGitHub, key_file: Path) -> str:
    assert github.state  # it has made the key
    return key_file.read_text()


def test_an_app_that_is_added_is_used_within_five_minutes(
    world: World, app: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wiring.github_state() is None
    world.secrets.put_secret_value(SecretId=app, SecretString=json.dumps({"app_id": "1", "private_key": key}))
    assert wiring.github_state() is None
    monkeypatch.setattr(wiring, "READ_AGAIN_SECONDS", 0.0)
    first = wiring.github_state()
    assert first is not None
    assert wiring.github_state() is first
    world.secrets.put_secret_value(SecretId=app, SecretString=json.dumps({"app_id": "2", "private_key": key}))
    assert wiring.github_state() is not first


def test_an_app_stays_in_use_while_its_secret_cannot_be_read(
    world: World, app: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wiring.app_secret().value() == "{}"
    world.secrets.delete_secret(SecretId=app, ForceDeleteWithoutRecovery=True)
    monkeypatch.setattr(wiring, "READ_AGAIN_SECONDS", 0.0)
    assert wiring.app_secret().value() == "{}"


def test_a_key_is_replaced_without_a_rejected_call(
    world: World, app: str, github: SimulatedGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As docs/runbook.md describes it: GitHub accepts both keys until all functions have read the new one."""
    credentials = github.state.credentials
    monkeypatch.setenv("GITHUB_API_URL", github.url)

    def store(private_key: str) -> None:
        secret = {"app_id": str(APP_ID), "private_key": private_key}
        world.secrets.put_secret_value(SecretId=app, SecretString=json.dumps(secret))

    def call() -> int:
        state = wiring.github_state()
        assert state is not None
        return len(list(state.app.installations()))

    store(credentials.private_key)
    assert call() == 1
    added = credentials.add_key()
    store(added)
    assert call() == 1, "with the old key, until it is read again"
    monkeypatch.setattr(wiring, "READ_AGAIN_SECONDS", 0.0)
    assert call() == 1
    credentials.remove_key(credentials.private_key)
    assert call() == 1, "with the new key"
    credentials.remove_key(added)
    without_key = GitHubApp.from_secret(json.dumps({"app_id": str(APP_ID), "private_key": added}), api_url=github.url)
    with pytest.raises(GitHubRefusal):
        list(without_key.installations())
