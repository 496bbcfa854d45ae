"""Errors that the API returns to its caller; each message is the `detail` of the response.

ApiError
├── Unauthenticated     401  no token, or an invalid one
├── Forbidden           403  the caller's role or scope isn't sufficient
├── NotFound            404  it doesn't exist, or the caller can't see it
├── MethodNotAllowed    405
├── InvalidParameter    400  with the name of the parameter
├── NotAcceptable       406  the file is only available compressed
├── Conflict            409  the request doesn't match the current state
└── TooManyRequests     429  GitHub's rate limit, or a limit of the installation, is reached
"""

from collections.abc import Iterable


class ApiError(Exception):
    pass


class Unauthenticated(ApiError):
    pass


class Forbidden(ApiError):
    pass


class NotFound(ApiError):
    pass


class MethodNotAllowed(ApiError):
    def __init__(self, allowed: Iterable[str]) -> None:
        self.allowed = ", ".join(sorted(allowed))
        super().__init__(f"This path supports only {self.allowed}")


class InvalidParameter(ApiError):
    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"{parameter} {problem}")
        self.parameter = parameter
        self.problem = problem


class NotAcceptable(ApiError):
    pass


class Conflict(ApiError):
    pass


class TooManyRequests(ApiError):
    pass
