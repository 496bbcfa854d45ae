"""What every tier shares: an environment without secrets or AWS, and the templates that would be deployed."""

import os

# Before anything of AWS is imported: nothing here may ever reach a real account.
os.environ.update(
    AWS_ACCESS_KEY_ID="test",
    AWS_SECRET_ACCESS_KEY="test",
    AWS_DEFAULT_REGION="us-east-1",
    CDK_VALIDATION="false",  # 9 seconds in each process; tests/stacks/test_compliance.py runs it once
    MOTO_EC2_LOAD_DEFAULT_AMIS="false",  # moto would create 1,300 AMIs in each test; none is needed
)
for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_SESSION_TOKEN"):
    os.environ.pop(name, None)

import gc
import io
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import hypothesis
import pytest
from runledger.platform import logs

from local.aws import dynamodb
from local.github import SimulatedGitHub
from tests.support import remembered, synthesis
from tests.support.beds import create_tables, delete_tables
from tests.support.synthesis import Templates, synthesise
from tests.support.webhooks import INSTALLATION, REPO

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytest_plugins = ["tests.support.deployed"]

# A shell makes background processes ignore Ctrl-C, and their children inherit that. Some tests interrupt children.
signal.signal(signal.SIGINT, signal.default_int_handler)

remembered.install()

# The same examples in every run, and no test that fails because a machine is slow.
hypothesis.settings.register_profile("steady", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("steady")


def pytest_collection_finish() -> None:
    """Modules and tests stay until the end: the garbage collector scans only what tests create, and less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The parent of the temporary folders of all test processes."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        synthesis.shared = tmp_path_factory.getbasetemp().parent


@pytest.fixture(scope="session")
def templates() -> Templates:
    """The production configuration, by stack."""
    return synthesise()


@pytest.fixture(scope="session")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One key for all tests, because generating a key is slow."""
    return tmp_path_factory.mktemp("github") / "app.pem"


@pytest.fixture
def github(key_file: Path) -> Iterator[SimulatedGitHub]:
    """Where the App is installed."""
    with SimulatedGitHub(key_file=key_file) as simulated:
        simulated.state.put("installations", INSTALLATION, account=REPO.partition("/")[0])
        yield simulated


@pytest.fixture
def finished_run(github: SimulatedGitHub) -> None:
    """One job succeeded and one failed."""
    github.state.put("runs", 1, repository="acme/web")
    github.state.put("jobs", 11, run_id=1, name="lint", status="completed", conclusion="success")
    github.state.put("jobs", 12, run_id=1, name="test", status="completed", conclusion="failure", runner_id=5)


@pytest.fixture(scope="session")
def dynamodb_local_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with dynamodb.running(tmp_path_factory.mktemp("dynamodb")) as url:
        yield url


@pytest.fixture
def dynamodb_local(dynamodb_local_url: str, templates: Templates) -> Iterator["DynamoDBClient"]:
    client = boto3.client("dynamodb", endpoint_url=dynamodb_local_url)
    create_tables(client, templates["data"])
    yield client
    delete_tables(client)
    client.close()


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the logger writes: it keeps the stream that was there when it was created."""
    stream = io.StringIO()
    monkeypatch.setattr(logs.logger.registered_handler, "stream", stream)
    return stream
