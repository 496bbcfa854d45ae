"""Test beds of the reconciler: DynamoDB Local or moto, and the simulated GitHub."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.beds import mocked
from tests.support.synthesis import Templates
from tests.tables.conftest import dynamodb_local

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

__all__ = ["dynamodb_local"]  # a fixture


@pytest.fixture
def dynamodb(templates: Templates) -> Iterator["DynamoDBClient"]:
    """In moto's AWS, which has EC2 and ECS as well."""
    with mocked(templates["data"]) as client:
        yield client
