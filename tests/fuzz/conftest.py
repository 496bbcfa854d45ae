"""The functions and the API in memory, with a ledger that each case finds in the same state.

`make fuzz` sets FUZZ_SECONDS, FUZZ_SEED, FUZZ_CASE and FUZZ_TARGET. Without them, each run plays the same cases.
"""

import io
import os

import pytest
from runledger.platform import logs

from tests.api.client import Client
from tests.api.conftest import api, ledger, live, pass_requests
from tests.functions.conftest import World, world
from tests.fuzz.cases import Fuzz
from tests.fuzz.ledger import Bed, fill

__all__ = ["api", "ledger", "live", "pass_requests", "world"]

# The tests that call `Fuzz.play`: each has an equal share of the time.
TARGETS = 11
PLAYED: dict[str, int] = {}


@pytest.fixture
def fuzz() -> Fuzz:
    seconds, case = os.environ.get("FUZZ_SECONDS"), os.environ.get("FUZZ_CASE")
    return Fuzz(
        seed=int(os.environ.get("FUZZ_SEED") or 1),
        seconds=float(seconds) / TARGETS if seconds else None,
        case=int(case) if case else None,
        target=os.environ.get("FUZZ_TARGET") or None,
        played=PLAYED,
    )


@pytest.fixture
def bed(world: World, monkeypatch: pytest.MonkeyPatch) -> Bed:
    log = io.StringIO()
    monkeypatch.setattr(logs.logger.registered_handler, "stream", log)
    monkeypatch.setenv("GITHUB_APP", world.secrets.create_secret(Name="no app", SecretString="{}")["ARN"])
    fill(world)
    return Bed(world=world, log=log)


@pytest.fixture
def fuzzed_api(bed: Bed, world: World, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Client:
    """The API over the filled ledger, with heads and releases."""
    assert bed
    queue = world.sqs.create_queue(QueueName="releases.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    monkeypatch.setenv("RELEASES_TABLE", "releases")
    monkeypatch.setenv("RELEASES_RETENTION_DAYS", "90")
    monkeypatch.setenv("RELEASE_INPUTS_QUEUE", queue)
    api: Client = request.getfixturevalue("api")
    return api


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if PLAYED and "FUZZ_SECONDS" in os.environ:
        for target, cases in PLAYED.items():
            terminalreporter.write_line(f"{target}: {cases:,} cases")
