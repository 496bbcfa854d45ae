"""Test beds of the reconciler: DynamoDB Local or moto, and the simulated GitHub."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from local.github import SimulatedGitHub
from tests.beds import create_tables
from tests.reconciler.wiring import ORG
from tests.synthesis import Templates
from tests.tables.conftest import dynamodb_local
from tests.webhooks import INSTALLATION

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

__all__ = ["dynamodb_local"]  # a fixture


@pytest.fixture(scope="session")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One key for all tests, because making one takes longer than any of them."""
    return tmp_path_factory.mktemp("github") / "app.pem"


@pytest.fixture
def github(key_file: Path) -> Iterator[SimulatedGitHub]:
    with SimulatedGitHub(key_file=key_file) as github:
        github.state.put("installations", INSTALLATION, account=ORG)
        yield github


@pytest.fixture
def dynamodb(templates: Templates) -> Iterator["DynamoDBClient"]:
    """In moto's AWS, which has EC2 and ECS as well."""
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client, templates["data"])
        yield client
