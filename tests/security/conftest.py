"""The real handlers on moto, and the tables and API of the other tests."""

import pytest

from tests.api.conftest import api, pass_requests
from tests.functions.conftest import scene, world
from tests.support.reconciler_scene import Scene
from tests.support.stranger import Stranger
from tests.tables.conftest import dynamodb

__all__ = ["api", "dynamodb", "pass_requests", "scene", "world"]  # fixtures


@pytest.fixture
def mallory(scene: Scene) -> Stranger:
    return Stranger(scene)
