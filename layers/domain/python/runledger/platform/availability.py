"""Converts temporary AWS errors to UnavailableError: callers retry later."""

from contextlib import ContextDecorator

from botocore import exceptions
from botocore.exceptions import ClientError

from runledger.model.errors import UnavailableError

TEMPORARY = {
    "LimitExceededException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
}
SERVER_ERROR = 500
# A deleted table can be restored (docs/runbook.md), and inputs that arrive in the meantime must not be lost.
MISSING = "ResourceNotFoundException"
TABLE_OPERATIONS = {"GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"}
# Errors about the content of a request, which fails each time.
REJECTED_CONTENT = {"ValidationException", "InvalidMessageContents", "InvalidParameterValue"}


class translate_errors(ContextDecorator):  # noqa: N801
    """Temporary errors become an UnavailableError; all others pass unchanged."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if error is not None and _is_temporary(error):
            raise UnavailableError(f"{self._what}: {error}") from error


def _is_temporary(error: BaseException) -> bool:
    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        code = error.response["Error"]["Code"]
        is_missing_table = code == MISSING and error.operation_name in TABLE_OPERATIONS
        return code in TEMPORARY or status >= SERVER_ERROR or is_missing_table
    return isinstance(error, exceptions.ConnectionError | exceptions.HTTPClientError)


def may_succeed_later(error: Exception) -> bool:
    """For work that is kept for a while: a missing permission or a disabled key can be repaired in that time."""
    if isinstance(error, ClientError):
        return error.response["Error"]["Code"] not in REJECTED_CONTENT
    return isinstance(error, UnavailableError)
