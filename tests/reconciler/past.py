"""Answers from an earlier moment, as every copy of the truth gives them."""

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends

T = TypeVar("T")


class Past(Generic[T]):
    """Is shown the truth whenever time moves on, and remembers it."""

    def __init__(self, truth: Callable[[], T]) -> None:
        self._truth = truth
        self._moments: list[tuple[int, T]] = []

    def remember(self, minute: int) -> None:
        """As it was at the end of that minute."""
        self._moments.append((minute, self._truth()))

    def at(self, minute: int) -> T:
        earlier = [then for when, then in self._moments if when <= minute]
        return earlier[-1] if earlier else self._moments[0][1]


def tables_now() -> Mapping[str, Any]:
    """moto's own, which has no eventual consistency: so we keep it copies."""
    return {name: copy.deepcopy(table.items) for name, table in _tables().items()}


@contextmanager
def tables_as(then: Mapping[str, Any]) -> Iterator[None]:
    tables = _tables()
    now = {name: table.items for name, table in tables.items()}
    try:
        for name, table in tables.items():
            table.items = then[name]
        yield
    finally:
        for name, table in tables.items():
            table.items = now[name]


def _tables() -> Mapping[str, Any]:
    found: Mapping[str, Any] = dynamodb_backends[DEFAULT_ACCOUNT_ID]["us-east-1"].tables
    return found
