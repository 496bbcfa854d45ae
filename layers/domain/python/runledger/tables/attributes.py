"""Between plain Python values and DynamoDB's typed attributes, and between AWS's errors and ours."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
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


class _WholeNumbers(TypeDeserializer):
    """boto3 reads every number as a Decimal; ids and counts are whole numbers to us."""

    def _deserialize_n(self, value: str) -> int | Decimal:
        return int(value) if value.lstrip("-").isdigit() else Decimal(value)


_serialize = TypeSerializer().serialize
_deserialize = _WholeNumbers().deserialize


def to_attributes(values: Mapping[str, Any]) -> Attributes:
    """Absent is absent: no nulls are stored."""
    return {name: _serialize(value) for name, value in values.items() if value is not None}


def from_attributes(attributes: Attributes) -> dict[str, Any]:
    return {name: _deserialize(value) for name, value in attributes.items()}


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
