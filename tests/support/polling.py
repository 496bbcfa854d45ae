"""Waits for what other processes do."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE_SECONDS = 90.0


def eventually(
    check: Callable[[], T | None],
    what: str | Callable[[], object] = "the condition holds",
    *,
    seconds: float = PATIENCE_SECONDS,
    pause: float = 0.3,
) -> T:
    """The first true result of `check`. If there is none in time, the test fails with `what`, which is called then."""
    deadline = time.monotonic() + seconds
    while not (found := check()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} seconds: {what() if callable(what) else what}")
        time.sleep(pause)
    return found
