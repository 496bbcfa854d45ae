"""The real client against the simulated GitHub, with a clock that moves only when the client waits."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest
from runledger_github.app import DEFAULT_RETRIES, GitHubApp
from runledger_github.installation import Installation
from runledger_github.retries import RetryLimits

from local.github.credentials import APP_ID
from tests.github.recorded_github import RecordedGitHub
from tests.local.github_client import ManualClock

ACME = 7


class Connect(Protocol):
    """Makes a client for the simulated GitHub, or for another address."""

    def __call__(
        self, api_url: str | None = None, *, limits: RetryLimits = ..., read_seconds: float = ...
    ) -> GitHubApp: ...


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def naps() -> list[float]:
    """The seconds for which the client would have slept."""
    return []


@pytest.fixture
def sleep(clock: ManualClock, naps: list[float]) -> Callable[[float], None]:
    def nap(seconds: float) -> None:
        naps.append(seconds)
        clock.advance(seconds=seconds)

    return nap


@pytest.fixture
def github(clock: ManualClock, key_file: Path) -> Iterator[RecordedGitHub]:
    with RecordedGitHub(clock=clock, key_file=key_file) as github:
        github.state.put("installations", ACME, account="acme")
        yield github
    github.judge()


@pytest.fixture
def secret(github: RecordedGitHub) -> str:
    return json.dumps({"app_id": APP_ID, "private_key": github.state.credentials.private_key})


@pytest.fixture
def connect(github: RecordedGitHub, secret: str, clock: ManualClock, sleep: Callable[[float], None]) -> Connect:
    def make(
        api_url: str | None = None, *, limits: RetryLimits = DEFAULT_RETRIES, read_seconds: float = 10
    ) -> GitHubApp:
        return GitHubApp.from_secret(
            secret,
            api_url=api_url or github.url,
            limits=limits,
            read_seconds=read_seconds,
            clock=lambda: clock().timestamp(),
            sleep=sleep,
        )

    return make


@pytest.fixture
def app(connect: Connect) -> GitHubApp:
    return connect()


@pytest.fixture
def acme(app: GitHubApp) -> Installation:
    return app.installation(ACME)
