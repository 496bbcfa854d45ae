"""Fixtures of the benchmarks. Tests limit counts, which are the same on every machine, and never time."""

import itertools
from collections.abc import Iterator

import pytest

from bench import harness as harnesses
from bench.harness import Harness
from tests.support.synthesis import Templates

_numbers = itertools.count()


@pytest.fixture
def harness(dynamodb_local_url: str, templates: Templates) -> Iterator[Harness]:
    with harnesses.create(dynamodb_local_url, f"bench{next(_numbers)}", templates["data"]) as created:
        yield created
