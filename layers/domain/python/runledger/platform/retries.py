"""Whether the message that is being processed was delivered before.

An earlier attempt may have written a part of what follows from the message. A first attempt needn't look for that.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_is_retry = ContextVar("is_retry", default=False)


def is_retry() -> bool:
    return _is_retry.get()


def is_first(message: Mapping[str, Any]) -> bool:
    """SQS counts a receive when it hands a message out, so the first attempt of a message may look like a retry."""
    return bool(message.get("attributes", {}).get("ApproximateReceiveCount", "1") == "1")


@contextmanager
def attempt(message: Mapping[str, Any]) -> Iterator[None]:
    token = _is_retry.set(not is_first(message))
    try:
        yield
    finally:
        _is_retry.reset(token)
