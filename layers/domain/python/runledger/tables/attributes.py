"""Between plain Python values and DynamoDB's typed attributes."""

from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from typing import Any

from botocore.exceptions import ClientError

Attributes = dict[str, Any]

REFUSED = "ConditionalCheckFailedException"
# What a number attribute holds; a write with any other number is rejected as a whole.
MOST_DIGITS, LEAST_MAGNITUDE = 38, Decimal("1E-130")


def to_attributes(values: Mapping[str, Any]) -> Attributes:
    """Absent is absent: no nulls are stored."""
    return {
        name: {"S": value} if type(value) is str else _written(value)
        for name, value in values.items()
        if value is not None
    }


def from_attributes(attributes: Attributes) -> dict[str, Any]:
    return {name: value["S"] if "S" in value else _read(value) for name, value in attributes.items()}


# By hand: boto3's own takes three times as long, which was a third of our share of a webhook, and it reads every number
# as a Decimal, while ids and counts are whole numbers to us.
def _written(value: Any) -> dict[str, Any]:
    kind = type(value)
    if kind is str:
        return {"S": value}
    if kind is int:
        return {"N": str(value)}
    if kind is bool:
        return {"BOOL": value}
    if kind is dict:
        return {"M": {name: _written(each) for name, each in value.items()}}
    if isinstance(value, str):
        return {"S": str(value)}
    return _written_whole(value)


def _written_whole(value: Any) -> dict[str, Any]:
    match value:
        case None:
            return {"NULL": True}
        case list() | tuple():
            return {"L": [_written(each) for each in value]}
        case set() | frozenset():
            words = sorted(map(str, value))
            return {"SS": words} if any(isinstance(each, str) for each in value) else {"NS": words}
        case bytes():
            return {"B": value}
        case Decimal():
            return {"N": str(_storable(value))}
    raise TypeError(f"no attribute can hold {value!r}")


def _storable(value: Decimal) -> Decimal:
    """The nearest number that DynamoDB stores."""
    return Decimal(0) if abs(value) < LEAST_MAGNITUDE else _ROUNDING.plus(value)


def _read(attribute: Mapping[str, Any]) -> Any:
    ((kind, value),) = attribute.items()
    read = _READ.get(kind)
    return read(value) if read else value


def _number(text: str) -> int | Decimal:
    return int(text) if text.lstrip("-").isdigit() else Decimal(text)


_ROUNDING = Context(prec=MOST_DIGITS)
_READ: Mapping[str, Callable[[Any], Any]] = {
    "N": _number,
    "L": lambda values: [_read(each) for each in values],
    "M": from_attributes,
    "NS": lambda numbers: set(map(_number, numbers)),
    "SS": set,
    "NULL": lambda _: None,
}


def is_refusal(error: ClientError) -> bool:
    return bool(error.response["Error"]["Code"] == REFUSED)
