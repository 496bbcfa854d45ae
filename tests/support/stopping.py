"""Ends a process at any of its calls."""

from collections.abc import Callable
from itertools import count
from typing import Any


class Stopped(BaseException):
    """The process is gone; nothing may catch it."""


class Stopper:
    """Stands before a client and ends the process at its n-th call, before or after the call takes effect."""

    def __init__(self, client: Any, *, at_call: int, after: bool) -> None:
        self._client = client
        self._calls = count(1)
        self._at_call = at_call
        self._after = after
        self.stopped = False

    def __getattr__(self, name: str) -> Any:
        return lambda **arguments: self.through(lambda: getattr(self._client, name)(**arguments))

    def through(self, call: Callable[[], Any]) -> Any:
        """Makes a call that isn't one of the client's, and counts it."""
        mine = next(self._calls) == self._at_call
        if mine and not self._after:
            self._stop()
        try:
            return call()
        finally:
            if mine:
                self._stop()

    def _stop(self) -> None:
        self.stopped = True
        raise Stopped
