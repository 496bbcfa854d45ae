"""A client that trusts the certificates of the tests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from runledger.notifications.channels.connection import Http

from tests.notifications.channels.authority import Authority
from tests.notifications.channels.scene import PATIENT


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.create(Path(tmp_path_factory.mktemp("authority")))


@pytest.fixture
def http(authority: Authority) -> Callable[..., Http]:
    """Trusts the authority of the tests. Only the resolver and the time limits are replaced."""
    usual: dict[str, Any] = {**PATIENT, "trusted": authority.trusted, "allow_loopback": True}
    return lambda **replaced: Http(**{**usual, **replaced})
