"""The OpenAPI description. Powertools makes it; what it says of errors is replaced."""

import json
from functools import cache
from typing import Any, NotRequired

from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from runledger_api import problems
from runledger_api.assets import Asset
from runledger_api.pages import accepted_encoding
from runledger_api.refusals import WrongMethod

VERSION = "1"
ABOUT = (
    "Where is my GitHub Actions job, and what happened to it? Every list has `limit` and `cursor`; every answer says "
    "in `X-Read-Units` how many DynamoDB read units it took; every error is an RFC 9457 problem."
)
# Tools and the page at /docs may keep it for this long.
CACHED = "public, max-age=300"
REFUSALS = {
    "400": "a parameter is not what it must be; `errors` names it",
    "401": "no token, or an invalid one",
    "403": "the token's role or scope does not suffice",
    "404": "it does not exist, or the token may not see it",
    "409": "not in the state that things are in",
    "415": "the body is not JSON",
    "429": "too many requests",
    "503": "AWS or GitHub did not answer: try again",
}
OF_CHANGES_ONLY = {"409", "415"}
HEADERS = {
    "X-Read-Units": {"description": "DynamoDB read units that this took", "schema": {"type": "string"}},
    "X-Request-Id": {"description": "under which the log knows this request", "schema": {"type": "string"}},
}


class Error(TypedDict):
    parameter: str
    problem: str


class Problem(TypedDict):
    """RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    errors: NotRequired[list[Error]]


def serve(app: APIGatewayHttpResolver) -> None:
    @cache
    def described() -> Asset:
        return Asset.from_text("openapi.json", json.dumps(describe(app)))

    @app.get("/openapi.json", include_in_schema=False)
    def openapi() -> Response[str]:
        return described().respond(accepted_encoding(app), cache_control=CACHED)

    @app.not_found
    def nothing_here(_: NotFoundError) -> Response[str]:
        """A path that is known by another method says which."""
        path = app.context["_path"]
        allowed = {each.method for each in (*app._static_routes, *app._dynamic_routes) if each.rule.match(path)}
        return problems.answer_to(WrongMethod(allowed) if allowed else NotFoundError())


def describe(app: APIGatewayHttpResolver) -> dict[str, Any]:
    description: dict[str, Any] = json.loads(
        app.get_openapi_json_schema(title="Runledger", version=VERSION, description=ABOUT)
    )
    # Relative to the description itself, so that it is right behind any address.
    description["servers"] = [{"url": "."}]
    description["security"] = [{"token": []}]
    schemas = description["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError", "ResponseValidationError"):
        schemas.pop(unused, None)
    schemas |= _schemas_of_problems()
    description["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for operations in description["paths"].values():
        for method, operation in operations.items():
            operation["responses"] = _responses(operation["responses"], changes=method == "post")
    return description


def _responses(said: dict[str, Any], *, changes: bool) -> dict[str, Any]:
    good = {status: {**answer, "headers": HEADERS} for status, answer in said.items() if status.startswith("2")}
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return good | {
        status: {"description": words, "headers": HEADERS, "content": {problems.CONTENT_TYPE: schema}}
        for status, words in REFUSALS.items()
        if changes or status not in OF_CHANGES_ONLY
    }


def _schemas_of_problems() -> dict[str, Any]:
    schema = TypeAdapter(Problem).json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs"), "Problem": schema}
