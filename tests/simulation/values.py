"""Attribute values as DynamoDB stores them: checked, in one normal form, so that equal values are equal dicts."""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

Value = dict[str, Any]
Values = Mapping[str, Value]

DIGITS = 38
LARGEST_EXPONENT, SMALLEST_EXPONENT = 125, -130
SCALARS = {"S", "N", "B"}  # the types that have an order
SETS = {"SS": "S", "NS": "N", "BS": "B"}


class Rejected(Exception):
    """The request is refused, with the code and message of DynamoDB's response."""

    def __init__(self, message: str, *, code: str = "ValidationException", **response: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.response = response


class Item(dict[str, Value]):
    """A stored item. It is replaced and never changed, so snapshots may share it."""

    __slots__ = ("size",)
    size: int


def normal(value: Mapping[str, Any]) -> Value:
    if len(value) != 1:
        raise Rejected("Supplied AttributeValue has more than one datatypes set, must contain exactly one")
    ((kind, raw),) = value.items()
    if kind == "S":
        return {"S": raw}
    if kind not in _NORMAL:
        raise Rejected(f"Supplied AttributeValue is invalid: {kind}")
    return {kind: _NORMAL[kind](raw)}


def number(text: str) -> str:
    """The number without needless zeros or exponent, as it is returned."""
    if text.isdecimal() and len(text) <= DIGITS and (text[0] != "0" or text == "0"):
        return text
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise Rejected(f"The parameter cannot be converted to a numeric value: {text}") from None
    if not value.is_finite():
        raise Rejected(f"The parameter cannot be converted to a numeric value: {text}")
    return plain(value)


def plain(value: Decimal) -> str:
    if not value:
        return "0"
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    kept = "".join(map(str, digits)).lstrip("0").rstrip("0")
    if len(kept) > DIGITS:
        raise Rejected("Attempting to store more than 38 significant digits in a Number")
    if value.adjusted() > LARGEST_EXPONENT:
        raise Rejected("Number overflow. Attempting to store a number with magnitude larger than supported range")
    if value.adjusted() < SMALLEST_EXPONENT:
        raise Rejected("Number underflow. Attempting to store a number with magnitude smaller than supported range")
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _set(kind: str, raw: Iterable[Any]) -> list[Any]:
    """Sets have no order, so they are kept sorted."""
    of = SETS[kind]
    elements = [normal({of: each})[of] for each in raw]
    if not elements:
        raise Rejected("One or more parameter values were invalid: An set may not be empty")
    if len(set(elements)) != len(elements):
        raise Rejected(f"One or more parameter values were invalid: Input collection {elements} contains duplicates.")
    return sorted(elements, key=Decimal if of == "N" else None)


_NORMAL: dict[str, Callable[[Any], Any]] = {
    "N": number,
    "B": bytes,
    "BOOL": bool,
    "NULL": bool,
    "M": lambda raw: {name: normal(each) for name, each in raw.items()},
    "L": lambda raw: [normal(each) for each in raw],
    **{kind: partial(_set, kind) for kind in SETS},
}


def merged(kind: str, left: Iterable[Any], right: Iterable[Any]) -> Value:
    return {kind: sorted({*left, *right}, key=Decimal if kind == "NS" else None)}


def kind_of(value: Value) -> str:
    return next(iter(value))


def order(value: Value) -> Any:
    """What scalars of one type are compared by; text in order of code points, which is the order of UTF-8 bytes."""
    kind = kind_of(value)
    return Decimal(value["N"]) if kind == "N" else value[kind]


def copied(item: Mapping[str, Value]) -> dict[str, Value]:
    """A copy for the caller, which may change it."""
    return {name: _copied(value) for name, value in item.items()}


def _copied(value: Value) -> Value:
    ((kind, raw),) = value.items()
    if type(raw) is dict:
        return {kind: copied(raw)}
    if type(raw) is list:
        return {kind: [_copied(each) for each in raw] if kind == "L" else list(raw)}
    return {kind: raw}


def size_of(item: Mapping[str, Value]) -> int:
    total = 0
    for name, value in item.items():
        ((kind, raw),) = value.items()
        total += len(name) + (len(raw) if kind == "S" and raw.isascii() else _size(kind, raw))
    return total


def _size(kind: str, raw: Any) -> int:
    if kind == "S":
        return len(raw.encode())
    if kind == "N":
        return len(raw) // 2 + 2
    if kind == "M":
        return 3 + size_of(raw) + len(raw)
    if kind == "L":
        return 3 + sum(1 + _size(*each.popitem()) for each in map(dict, raw))
    if kind in SETS:
        return sum(_size(SETS[kind], each) for each in raw)
    return len(raw) if kind == "B" else 1
