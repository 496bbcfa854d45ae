"""Releases on tables in memory."""

import pytest

from tests.releases.rebuild_scenes import ReleaseWorld


@pytest.fixture
def world() -> ReleaseWorld:
    return ReleaseWorld()
