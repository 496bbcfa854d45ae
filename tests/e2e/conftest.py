"""The whole app, deployed by the real `cdk deploy` to an embedded AWS of this test run's own."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest

from local import deployment, emulator, simulator
from local.outputs import Outputs

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/e2e/" in item.nodeid:
            item.add_marker(pytest.mark.server)
            # One deployment is enough, however many processes the tests run in.
            item.add_marker(pytest.mark.xdist_group("e2e"))


@pytest.fixture(scope="session")
def deployed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("deployed")


@pytest.fixture(scope="session")
def outputs(deployed_folder: Path) -> Iterator[Outputs]:
    with emulator.running(deployed_folder) as aws_url, simulator.running(deployed_folder) as github_url:
        yield deployment.deploy(aws_url, deployed_folder, github_api_url=github_url)


@pytest.fixture(scope="session")
def dynamodb(outputs: Outputs) -> Iterator["DynamoDBClient"]:
    client = boto3.client("dynamodb", endpoint_url=outputs.endpoint_url, region_name=outputs.region)
    yield client
    client.close()
