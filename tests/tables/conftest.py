"""The same tests on moto and on Amazon's DynamoDB Local."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import boto3
import pytest

from tests.support.beds import create_tables, delete_tables, mocked
from tests.support.synthesis import Templates

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture(params=["moto", pytest.param("dynamodb_local", marks=pytest.mark.server)])
def dynamodb(request: pytest.FixtureRequest, templates: Templates) -> Iterator["DynamoDBClient"]:
    if request.param == "moto":
        with mocked(templates["data"]) as client:
            yield client
    else:
        yield request.getfixturevalue("dynamodb_local")


@pytest.fixture
def dynamodb_local(dynamodb_local_url: str, templates: Templates) -> Iterator["DynamoDBClient"]:
    client = boto3.client("dynamodb", endpoint_url=dynamodb_local_url)
    create_tables(client, templates["data"])
    yield client
    delete_tables(client)
    client.close()
