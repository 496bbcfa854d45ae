"""Processes groups of objects with several threads, at a limited rate, and reports them in order."""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Generic, TypeVar

from runledger_cli.migration.access import WORKERS

if TYPE_CHECKING:
    from runledger.migration.webhook_groups import Group

Result = TypeVar("Result")
WAITING_AT_MOST = 4 * WORKERS


@dataclass
class Rate:
    """Spreads objects evenly. Lost time, for example because of a slow table, isn't caught up."""

    per_second: int
    pause: Callable[[float], None]
    clock: Callable[[], float] = time.monotonic
    _next_at: float = field(default=0.0, init=False)

    def wait_for(self, objects: int) -> None:
        now = self.clock()
        if self._next_at > now:
            self.pause(self._next_at - now)
        self._next_at = max(self._next_at, now) + objects / self.per_second


@dataclass
class Processing(Generic[Result]):
    """Calls `done` once for each group, in key order, and for no group after one that failed."""

    work: Callable[[Group], Result]
    done: Callable[[Group, Result], None]
    rate: Rate

    def run(self, groups: Iterable[Group]) -> None:
        """Raises KeyboardInterrupt after Ctrl-C, once the groups that have started are completed and reported."""
        waiting: deque[tuple[Group, Future[Result]]] = deque()
        with _interruption() as interrupted, ThreadPoolExecutor(max_workers=WORKERS) as pool:
            try:
                for group in groups:
                    self.rate.wait_for(len(group.listed))
                    if interrupted.is_set():
                        raise KeyboardInterrupt
                    waiting.append((group, pool.submit(self.work, group)))
                    if len(waiting) >= WAITING_AT_MOST:
                        self._finish_first(waiting)
                while waiting:
                    self._finish_first(waiting)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                while waiting and _succeeded(waiting[0][1]):
                    self._finish_first(waiting)
                raise

    def _finish_first(self, waiting: deque[tuple[Group, Future[Result]]]) -> None:
        group, future = waiting[0]
        result = future.result()
        waiting.popleft()
        self.done(group, result)


@contextmanager
def _interruption() -> Iterator[Event]:
    """Set by Ctrl-C, so that every finished group is counted. A second Ctrl-C ends the command at once."""
    interrupted = Event()
    before = signal.getsignal(signal.SIGINT)

    def interrupt(*_: object) -> None:
        interrupted.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)


def _succeeded(future: Future[Result]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None
