"""Threads that wait for work: starting one for each task would take longer than most tasks."""

import threading
from collections.abc import Callable

Work = Callable[[], None]


class Worker:
    """Its thread runs only while it holds the baton: handing it over blocks until it is handed back."""

    def __init__(self) -> None:
        self.baton = threading.Lock()
        self.baton.acquire()
        self._work: Work | None = None
        threading.Thread(target=self._run, daemon=True, name="simulation").start()

    def give(self, work: Work) -> None:
        """The work starts when the baton is first released."""
        self._work = work

    def _run(self) -> None:
        while True:
            self.baton.acquire()
            work, self._work = self._work, None
            assert work is not None
            work()


_idle: list[Worker] = []


def borrow() -> Worker:
    return _idle.pop() if _idle else Worker()


def put_back(worker: Worker) -> None:
    """Called by the work itself, just before it hands over the baton."""
    _idle.append(worker)
