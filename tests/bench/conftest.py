"""Fixtures of the benchmarks. Tests limit counts, which are the same on every machine, and never time."""

import itertools
from collections.abc import Iterator

import pytest

from bench import bed as beds
from bench.bed import Bed
from tests.support.synthesis import Templates

_numbers = itertools.count()


@pytest.fixture
def bed(dynamodb_local_url: str, templates: Templates) -> Iterator[Bed]:
    with beds.made(dynamodb_local_url, f"bench{next(_numbers)}", templates["data"]) as made:
        yield made
