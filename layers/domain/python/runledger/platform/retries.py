"""Whether the current work is a retry: an SQS redelivery or a resumed cleanup.

An earlier attempt may have written part of the result. A first attempt needn't look for that.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

_is_retry = ContextVar("is_retry", default=False)


def is_retry() -> bool:
    return _is_retry.get()


def is_first(message: Mapping[str, Any]) -> bool:
    """SQS counts a receive when it hands a message out, so the first attempt of a message may look like a retry."""
    return bool(message.get("attributes", {}).get("ApproximateReceiveCount", "1") == "1")


def attempt(message: Mapping[str, Any]) -> AbstractContextManager[None]:
    return _attempt(is_retry=not is_first(message))


def another_attempt() -> AbstractContextManager[None]:
    return _attempt(is_retry=True)


@contextmanager
def _attempt(*, is_retry: bool) -> Iterator[None]:
    token = _is_retry.set(is_retry)
    try:
        yield
    finally:
        _is_retry.reset(token)
