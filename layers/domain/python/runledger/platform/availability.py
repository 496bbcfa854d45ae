"""AWS errors that may pass become UnavailableError, so that callers retry later."""

from contextlib import ContextDecorator

from botocore import exceptions
from botocore.exceptions import ClientError

from runledger.model.errors import UnavailableError

PASSING = {
    "LimitExceededException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
}
SERVER_ERROR = 500


class reaching(ContextDecorator):  # noqa: N801
    """Trouble that may pass becomes an UnavailableError; everything else is a defect and stays what it is."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if error is not None and _may_pass(error):
            raise UnavailableError(f"{self._what}: {error}") from error


def _may_pass(error: BaseException) -> bool:
    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return error.response["Error"]["Code"] in PASSING or status >= SERVER_ERROR
    return isinstance(error, exceptions.ConnectionError | exceptions.HTTPClientError)
