"""Earlier states, which a replica may still return."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from tests.simulation.engine import Engine
from tests.simulation.storage import Snapshot

T = TypeVar("T")


class Past(Generic[T]):
    """Records the state at each minute."""

    def __init__(self, truth: Callable[[], T]) -> None:
        self._truth = truth
        self._moments: list[tuple[int, T]] = []

    def remember(self, minute: int) -> None:
        """Record the state at the end of that minute."""
        self._moments.append((minute, self._truth()))

    def at(self, minute: int) -> T:
        earlier = [then for when, then in self._moments if when <= minute]
        return earlier[-1] if earlier else self._moments[0][1]


@contextmanager
def tables_as(engine: Engine, then: Snapshot) -> Iterator[None]:
    now = engine.snapshot()
    engine.restore(then)
    try:
        yield
    finally:
        engine.restore(now)
