"""Notifications on tables in memory."""

import pytest

from tests.feeds.streams import ALL_TABLES
from tests.notifications.scenes import Scene
from tests.simulation.engine import Engine


@pytest.fixture
def scene() -> Scene:
    return Scene(Engine(ALL_TABLES))
