"""The handlers and the tables of the other tests."""

from tests.api.conftest import api, ordered
from tests.functions.conftest import world
from tests.tables.conftest import dynamodb, dynamodb_local

__all__ = ["api", "dynamodb", "dynamodb_local", "ordered", "world"]
