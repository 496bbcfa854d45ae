"""Everything that goes wrong, as RFC 9457 problem details: the one place where exceptions become answers."""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import (
    RequestUnsupportedContentType,
    RequestValidationError,
)
from runledger import telemetry
from runledger.errors import UnavailableError

from runledger_api.refusals import (
    BadParameter,
    Conflict,
    NoSuchThing,
    NotAcceptable,
    NotAllowed,
    NoToken,
    Refused,
    TooManyRequests,
    WrongMethod,
)

CONTENT_TYPE = "application/problem+json"
STATUSES = {
    NoToken: HTTPStatus.UNAUTHORIZED,
    NotAllowed: HTTPStatus.FORBIDDEN,
    NoSuchThing: HTTPStatus.NOT_FOUND,
    WrongMethod: HTTPStatus.METHOD_NOT_ALLOWED,
    BadParameter: HTTPStatus.BAD_REQUEST,
    NotAcceptable: HTTPStatus.NOT_ACCEPTABLE,
    Conflict: HTTPStatus.CONFLICT,
    TooManyRequests: HTTPStatus.TOO_MANY_REQUESTS,
}

# The first that fits.
FOREIGN: dict[type[Exception], tuple[HTTPStatus, str]] = {
    NotFoundError: (HTTPStatus.NOT_FOUND, "there is no such path: /openapi.json describes those that there are"),
    RequestUnsupportedContentType: (HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send the body as application/json"),
    RecursionError: (HTTPStatus.BAD_REQUEST, "the body is nested too deeply"),
    UnavailableError: (HTTPStatus.SERVICE_UNAVAILABLE, "AWS or GitHub did not answer in time: try again"),
}

Errors = Sequence[Mapping[str, str]]


def answer_to(error: Exception) -> Response[str]:
    """Says what the caller can do something about; of everything else only that it is in the log."""
    if isinstance(error, Refused):
        return _refusal(error)
    if isinstance(error, RequestValidationError):
        return _invalid([_error(each) for each in error.errors()])
    for kind, (status, detail) in FOREIGN.items():
        if isinstance(error, kind):
            telemetry.logger.warning("not done", extra={"reason": str(error)})
            return problem(status, detail)
    telemetry.logger.error("defect", exc_info=error)
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "this is a defect; the log has it under the X-Request-Id")


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


def answer_with_problems(app: APIGatewayHttpResolver) -> None:
    """Powertools looks handlers up by class, and has answers of its own to some: name those, then all others."""
    handled = [NotFoundError, RequestValidationError, RequestUnsupportedContentType, Exception]
    app.exception_handler(handled)(answer_to)


def _refusal(refusal: Refused) -> Response[str]:
    if isinstance(refusal, BadParameter):
        return _invalid([{"parameter": refusal.parameter, "problem": refusal.problem}])
    headers = {"WWW-Authenticate": 'Bearer realm="runledger"'} if isinstance(refusal, NoToken) else {}
    if isinstance(refusal, WrongMethod):
        headers = {"Allow": refusal.allowed}
    return problem(STATUSES[type(refusal)], str(refusal), headers=headers)


def _invalid(errors: Errors) -> Response[str]:
    detail = "; ".join(f"{each['parameter']} {each['problem']}" for each in errors)
    return problem(HTTPStatus.BAD_REQUEST, detail, errors=errors)


def _error(found: Mapping[str, Any]) -> dict[str, str]:
    """Pydantic says where (`("query", "limit")`) and what (`Input should be less than or equal to 200`)."""
    place = [str(part) for part in found["loc"]]
    name = ".".join(place[1:]) or place[0]
    message = str(found["msg"]).removeprefix("Input ")
    return {"parameter": name, "problem": message[:1].lower() + message[1:]}
