"""The canned API, and commands that call it."""

from collections.abc import Callable, Iterator
from subprocess import CompletedProcess

import pytest

from tests.cli.canned_api import TOKEN, CannedApi
from tests.cli.command import runledger
from tests.cli.responses import INSTALLATION, installations, two_subscriptions

Cli = Callable[..., CompletedProcess[str]]


@pytest.fixture
def api() -> Iterator[CannedApi]:
    """An API with one installation."""
    with CannedApi() as server:
        server.respond("GET installations", installations(INSTALLATION))
        yield server


@pytest.fixture
def cli(api: CannedApi) -> Cli:
    """Run a command against the canned API."""

    def run(*arguments: str, **variables: str) -> CompletedProcess[str]:
        return runledger(*arguments, folder=None, RUNLEDGER_API_URL=api.url, RUNLEDGER_TOKEN=TOKEN, **variables)

    return run


@pytest.fixture
def two_subscriptions_exist(api: CannedApi) -> None:
    api.respond(f"GET installations/{INSTALLATION}/subscriptions", two_subscriptions())
