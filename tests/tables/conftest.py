"""The same tests in memory and on Amazon's DynamoDB Local."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from tests.support.beds import KEEP_SESSION
from tests.support.memory import tables_in_memory

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture(params=["memory", pytest.param("dynamodb_local", marks=pytest.mark.server)])
def dynamodb(request: pytest.FixtureRequest) -> Iterator["DynamoDBClient"]:
    if request.param == "memory":
        with mock_aws(config=KEEP_SESSION), tables_in_memory():
            yield boto3.client("dynamodb")
    else:
        yield request.getfixturevalue("dynamodb_local")
