"""A simulated GitHub for each test: a real server on a free port, with a clock that stands still."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from local.github import SimulatedGitHub
from tests.local.github_client import Client, ManualClock
from tests.local.webhook_receiver import WebhookReceiver

INSTALLATION = 7


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def paused() -> list[float]:
    """The seconds that slow responses would have waited."""
    return []


@pytest.fixture
def github(clock: ManualClock, paused: list[float], key_file: Path) -> Iterator[SimulatedGitHub]:
    with SimulatedGitHub(clock=clock, pause=paused.append, key_file=key_file) as github:
        github.state.put("installations", INSTALLATION, account="acme")
        yield github


@pytest.fixture
def anyone(github: SimulatedGitHub) -> Client:
    return Client(github)


@pytest.fixture
def app(anyone: Client) -> Client:
    return anyone.as_app()


@pytest.fixture
def acme(anyone: Client) -> Client:
    """The App as installed on acme."""
    return anyone.as_installation(INSTALLATION)


@pytest.fixture
def receiver(github: SimulatedGitHub) -> Iterator[WebhookReceiver]:
    with WebhookReceiver() as receiver:
        github.state.configure(webhook_url=receiver.url, webhook_secret="s3cret")
        yield receiver
