"""Turns every exception into a response with RFC 9457 problem details. Routes don't translate exceptions themselves."""

import json
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import (
    RequestUnsupportedContentType,
    RequestValidationError,
)
from runledger.model.errors import Contradiction, Malformed, NotYours, UnavailableError
from runledger.notifications.administration import Contended, NotPossible, TooManyMessages
from runledger.platform import logs

from runledger_api.errors import (
    ApiError,
    Conflict,
    Forbidden,
    InvalidParameter,
    MethodNotAllowed,
    NotAcceptable,
    NotFound,
    TooManyRequests,
    Unauthenticated,
)
from runledger_api.validation import parameter_error

CONTENT_TYPE = "application/problem+json"
STATUSES = {
    Unauthenticated: HTTPStatus.UNAUTHORIZED,
    Forbidden: HTTPStatus.FORBIDDEN,
    NotFound: HTTPStatus.NOT_FOUND,
    MethodNotAllowed: HTTPStatus.METHOD_NOT_ALLOWED,
    InvalidParameter: HTTPStatus.BAD_REQUEST,
    NotAcceptable: HTTPStatus.NOT_ACCEPTABLE,
    Conflict: HTTPStatus.CONFLICT,
    TooManyRequests: HTTPStatus.TOO_MANY_REQUESTS,
}

# Errors of the domain that the caller can act on.
DOMAIN_ERRORS: dict[type[Exception], Callable[[Any], ApiError]] = {
    Malformed: lambda error: InvalidParameter(error.field, error.problem),
    NotYours: lambda error: Forbidden(str(error)),
    Contradiction: lambda error: Conflict(f"{error}: report a new version"),
    NotPossible: lambda error: Conflict(str(error)),
    Contended: lambda _: Conflict("The subscription was changed at the same time: read it again"),
    TooManyMessages: lambda error: TooManyRequests(str(error)),
}

# Other errors; the first match applies.
OTHER_ERRORS: dict[type[Exception], tuple[HTTPStatus, str]] = {
    NotFoundError: (HTTPStatus.NOT_FOUND, "This path doesn't exist: see /openapi.json for all paths"),
    RequestUnsupportedContentType: (HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Send the body as application/json"),
    RecursionError: (HTTPStatus.BAD_REQUEST, "The body is nested too deeply"),
    UnavailableError: (HTTPStatus.SERVICE_UNAVAILABLE, "AWS or GitHub didn't respond in time: try again"),
}

Errors = Sequence[Mapping[str, str]]


def to_response(error: Exception) -> Response[str]:
    """The response describes only errors that the caller can act on; the details of all others are only in the log."""
    if to_api_error := DOMAIN_ERRORS.get(type(error)):
        logs.logger.info("request rejected", extra={"reason": str(error)})
        error = to_api_error(error)
    if isinstance(error, ApiError):
        return _api_error(error)
    if isinstance(error, RequestValidationError):
        return _invalid([parameter_error(each) for each in error.errors()])
    for kind, (status, detail) in OTHER_ERRORS.items():
        if isinstance(error, kind):
            logs.logger.warning("request failed", extra={"reason": str(error)})
            return problem(status, detail)
    logs.logger.error("unhandled exception", exc_info=error)
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal error: search the log for the X-Request-Id")


def problem(
    status: HTTPStatus, detail: str, *, errors: Errors = (), headers: Mapping[str, str] | None = None
) -> Response[str]:
    body = {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": detail}
    return Response(
        status_code=status.value,
        content_type=CONTENT_TYPE,
        headers=dict(headers or {}),
        body=json.dumps({**body, **({"errors": list(errors)} if errors else {})}),
    )


def register(app: APIGatewayHttpResolver) -> None:
    """Lists the classes for which Powertools has its own handlers, because it looks up handlers by class."""
    handled = [NotFoundError, RequestValidationError, RequestUnsupportedContentType, Exception]
    app.exception_handler(handled)(to_response)


def _api_error(error: ApiError) -> Response[str]:
    if isinstance(error, InvalidParameter):
        return _invalid([{"parameter": error.parameter, "problem": error.problem}])
    headers = {"WWW-Authenticate": 'Bearer realm="runledger"'} if isinstance(error, Unauthenticated) else {}
    if isinstance(error, MethodNotAllowed):
        headers = {"Allow": error.allowed}
    return problem(STATUSES[type(error)], str(error), headers=headers)


def _invalid(errors: Errors) -> Response[str]:
    detail = "; ".join(f"{each['parameter']} {each['problem']}" for each in errors)
    return problem(HTTPStatus.BAD_REQUEST, detail, errors=errors)
