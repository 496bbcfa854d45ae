"""A container and a launcher for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runner.container import SECRETS, Container
from tests.runner.launcher import Launcher


@pytest.fixture
def launcher(monkeypatch: pytest.MonkeyPatch) -> Iterator[Launcher]:
    monkeypatch.setenv("no_proxy", "*")
    with Launcher() as running:
        yield running


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Container]:
    """Whatever a test does with it, no token may be in its output."""
    made = Container(tmp_path)
    try:
        yield made
    finally:
        made.clean_up()
    assert not [secret for secret in SECRETS if secret in made.output()]
