"""The OpenAPI document. Powertools generates it; the error responses are replaced by RFC 9457 problems."""

import json
from functools import cache
from typing import Any, NotRequired

from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from runledger_api import problems
from runledger_api.assets import Asset
from runledger_api.errors import MethodNotAllowed
from runledger_api.web_pages import accepted_encoding

VERSION = "1"
ABOUT = (
    "Where is my GitHub Actions job, and what happened to it? Lists with `next_cursor` accept `limit` and `cursor`. "
    "Every error is an RFC 9457 problem. The header `X-Read-Units` is the number of DynamoDB read units "
    "that the request consumed."
)
CACHE_CONTROL = "public, max-age=300"
ERRORS = {
    "400": "a parameter is invalid; `errors` names it",
    "401": "no token, or an invalid one",
    "403": "the token's role or scope isn't sufficient",
    "404": "it doesn't exist, or the token has no access to it",
    "409": "the request conflicts with the current state",
    "415": "the body isn't JSON",
    "429": "too many requests",
    "503": "AWS or GitHub didn't respond: try again",
}
WRITES = ("post", "patch", "put")
WRITE_ONLY_ERRORS = {"409", "415"}
HEADERS = {
    "X-Read-Units": {"description": "DynamoDB read units that the request consumed", "schema": {"type": "string"}},
    "X-Request-Id": {"description": "id of the request in the log", "schema": {"type": "string"}},
}
HEADER_REFERENCES = {name: {"$ref": f"#/components/headers/{name}"} for name in HEADERS}


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
    def document() -> Asset:
        return Asset.from_text("openapi.json", json.dumps(build(app), separators=(",", ":")))

    @app.get("/openapi.json", include_in_schema=False)
    def openapi() -> Response[str]:
        return document().respond(accepted_encoding(app), cache_control=CACHE_CONTROL)

    @app.not_found
    def not_found(_: NotFoundError) -> Response[str]:
        """Returns 405 if the path exists with another method."""
        path = app.context["_path"]
        allowed = {each.method for each in (*app._static_routes, *app._dynamic_routes) if each.rule.match(path)}
        return problems.to_response(MethodNotAllowed(allowed) if allowed else NotFoundError())


def build(app: APIGatewayHttpResolver) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        app.get_openapi_json_schema(title="Runledger", version=VERSION, description=ABOUT)
    )
    # Relative to the document itself, so that it is correct behind any domain.
    document["servers"] = [{"url": "."}]
    document["security"] = [{"token": []}]
    schemas = document["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError", "ResponseValidationError"):
        schemas.pop(unused, None)
    schemas |= _problem_schemas()
    document["components"]["headers"] = HEADERS
    document["components"]["responses"] = _error_responses()
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for operations in document["paths"].values():
        for method, operation in operations.items():
            operation["responses"] = _responses(operation["responses"], is_write=method in WRITES)
    document["paths"], document["components"] = (_untitled(document[part]) for part in ("paths", "components"))
    return document


def _untitled(value: Any) -> Any:
    """Removes the titles that Pydantic derives from names: they are an eighth of the document."""
    if isinstance(value, dict):
        kept = ((name, each) for name, each in value.items() if name != "title" or not isinstance(each, str))
        return {name: _untitled(each) for name, each in kept}
    return [_untitled(each) for each in value] if isinstance(value, list) else value


def _responses(documented: dict[str, Any], *, is_write: bool) -> dict[str, Any]:
    """All operations share the error responses: repeating them would add 3 KB to each operation."""
    successful = {
        status: {**response, "headers": HEADER_REFERENCES}
        for status, response in documented.items()
        if status.startswith("2")
    }
    return successful | {
        status: {"$ref": f"#/components/responses/{status}"}
        for status in ERRORS
        if is_write or status not in WRITE_ONLY_ERRORS
    }


def _error_responses() -> dict[str, Any]:
    content = {problems.CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        status: {"description": text, "headers": HEADER_REFERENCES, "content": content}
        for status, text in ERRORS.items()
    }


def _problem_schemas() -> dict[str, Any]:
    schema = TypeAdapter(Problem).json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs"), "Problem": schema}
