"""Test beds of the reconciler: DynamoDB Local or tables in memory, and the simulated GitHub."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from tests.support.beds import KEEP_SESSION
from tests.support.memory import tables_in_memory

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def dynamodb() -> Iterator["DynamoDBClient"]:
    """Tables in memory, on moto, which has EC2 and ECS."""
    with mock_aws(config=KEEP_SESSION), tables_in_memory():
        yield boto3.client("dynamodb")
