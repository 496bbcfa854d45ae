"""JSON for queues, files and receivers, from values as DynamoDB returns them."""

import json
from decimal import Decimal
from typing import Any


def to_json(value: Any) -> str:
    """Compact, and ASCII, so that its length is its size in bytes."""
    return json.dumps(value, separators=(",", ":"), default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{value!r} can't be converted to JSON")
