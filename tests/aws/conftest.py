"""Stubbed clients and prices. Each test must make all expected calls."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.aws.canned_prices import PriceScene
from tests.aws.stubs import Stubs


@pytest.fixture
def stubs() -> Iterator[Stubs]:
    with ExitStack() as closing:
        stubs = Stubs(closing)
        yield stubs
        stubs.assert_all_called()


@pytest.fixture
def scene(stubs: Stubs) -> PriceScene:
    return PriceScene(stubs)
