"""Between plain Python values and DynamoDB's typed attributes, and between AWS's errors and ours."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from botocore import exceptions
from botocore.exceptions import ClientError

from runledger.errors import UnavailableError

Attributes = dict[str, Any]

REFUSED = "ConditionalCheckFailedException"
PASSING = {
    "LimitExceededException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "Throttling",
    "ThrottlingException",
}
SERVER_ERROR = 500


def to_attributes(values: Mapping[str, Any]) -> Attributes:
    """Absent is absent: no nulls are stored."""
    return {name: _written(value) for name, value in values.items() if value is not None}


def from_attributes(attributes: Attributes) -> dict[str, Any]:
    return {name: _read(value) for name, value in attributes.items()}


# By hand: boto3's own takes three times as long, which was a third of our share of a webhook, and it reads every number
# as a Decimal, while ids and counts are whole numbers to us.
def _written(value: Any) -> dict[str, Any]:
    kind = type(value)
    if kind is str:
        return {"S": value}
    if kind is int or kind is Decimal:
        return {"N": str(value)}
    if kind is bool:
        return {"BOOL": value}
    if isinstance(value, str):
        return {"S": str(value)}
    return _written_whole(value)


def _written_whole(value: Any) -> dict[str, Any]:
    match value:
        case None:
            return {"NULL": True}
        case Mapping():
            return {"M": {name: _written(each) for name, each in value.items()}}
        case list() | tuple():
            return {"L": [_written(each) for each in value]}
        case set() | frozenset():
            words = sorted(map(str, value))
            return {"SS": words} if any(isinstance(each, str) for each in value) else {"NS": words}
        case bytes():
            return {"B": value}
    raise TypeError(f"no attribute can hold {value!r}")


def _read(attribute: Mapping[str, Any]) -> Any:
    ((kind, value),) = attribute.items()
    read = _READ.get(kind)
    return read(value) if read else value


def _number(text: str) -> int | Decimal:
    return int(text) if text.lstrip("-").isdigit() else Decimal(text)


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


@contextmanager
def reaching(what: str) -> Iterator[None]:
    """Trouble that may pass becomes an UnavailableError; everything else is a defect and stays what it is."""
    try:
        yield
    except ClientError as error:
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if error.response["Error"]["Code"] in PASSING or status >= SERVER_ERROR:
            raise UnavailableError(f"{what}: {error}") from error
        raise
    except (exceptions.ConnectionError, exceptions.HTTPClientError) as error:
        raise UnavailableError(f"{what}: {error}") from error
