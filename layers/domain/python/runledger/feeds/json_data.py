"""Which JSON can be returned to every reader. Pure.

Serialisers follow nested values by recursion, and give up at depths that a parser still reads. Text with half of a
surrogate pair, which JSON can escape, has no form in UTF-8.
"""

import json
from typing import Any

MOST_DEPTH = 64


def problem_of(data: Any) -> str | None:
    """Why this data can't be returned; None if it can."""
    if _is_deeper(data, MOST_DEPTH):
        return f"must not be nested more than {MOST_DEPTH} levels deep"
    try:
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return "must not contain half of a surrogate pair"
    except ValueError:
        return "must be JSON, which has neither NaN nor Infinity"
    return None


def parse(text: str) -> tuple[bool, Any]:
    """Whether stored JSON can be returned as data, and the data."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return False, None
    return problem_of(data) is None, data


def _is_deeper(data: Any, most: int) -> bool:
    """Level by level instead of by recursion."""
    level = [data]
    for _ in range(most + 1):
        level = [inner for each in level if isinstance(each, dict | list) for inner in _inner(each)]
        if not level:
            return False
    return True


def _inner(value: dict[str, Any] | list[Any]) -> list[Any]:
    """An empty list or object has a level too."""
    inner = list(value.values()) if isinstance(value, dict) else value
    return inner or [None]
