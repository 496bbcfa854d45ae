"""Tests of the whole app, as it is deployed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import boto3
import pytest

from local.aws.outputs import Outputs

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture(scope="session")
def dynamodb(outputs: Outputs) -> Iterator["DynamoDBClient"]:
    client = boto3.client("dynamodb", endpoint_url=outputs.endpoint_url, region_name=outputs.region)
    yield client
    client.close()
