"""The size of an item as DynamoDB computes it, for failed conditional writes and storage."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

UNIT_BYTES = 1024
NESTED_BYTES = 3  # per list or map, plus one per member


def item_bytes(item: Mapping[str, Any]) -> int:
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def write_units(item: Mapping[str, Any]) -> int:
    return max(1, math.ceil(item_bytes(item) / UNIT_BYTES))


def _value_bytes(typed: Mapping[str, Any]) -> int:
    ((kind, value),) = typed.items()
    return SIZES.get(kind, _flag_bytes)(value)


def _text_bytes(text: str) -> int:
    return len(text.encode())


def _number_bytes(number: str) -> int:
    """One byte per two significant digits, plus one. The digits are counted in pairs from the decimal point."""
    whole, _, fraction = number.lstrip("-").partition(".")
    digits = whole.zfill(len(whole) + len(whole) % 2) + fraction.ljust(len(fraction) + len(fraction) % 2, "0")
    pairs = [digits[at : at + 2] for at in range(0, len(digits), 2)]
    significant = "".join("x" if pair != "00" else " " for pair in pairs).strip()
    return len(significant) + 1


def _flag_bytes(_: object) -> int:
    return 1


SIZES: dict[str, Callable[[Any], int]] = {
    "S": _text_bytes,
    "N": _number_bytes,
    "B": len,
    "SS": lambda texts: sum(map(_text_bytes, texts)),
    "NS": lambda numbers: sum(map(_number_bytes, numbers)),
    "L": lambda members: NESTED_BYTES + sum(1 + _value_bytes(member) for member in members),
    "M": lambda members: NESTED_BYTES + len(members) + item_bytes(members),
}
