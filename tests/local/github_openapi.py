"""Checks responses of the simulation against GitHub's OpenAPI document."""

import json
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jsonschema import Draft4Validator, FormatChecker
from referencing import Registry
from referencing.jsonschema import DRAFT4

FILE = Path(__file__).parents[2] / "node_modules/@octokit/openapi/generated/api.github.com.json"
FORMATS = FormatChecker(formats=())

MISDESCRIBED = {
    "GET /app/installations": {"type": "array", "items": {"$ref": "github#/components/schemas/installation"}}
}
"""The list's own schema wants an account that is a user and an enterprise at once, which none is."""


def validate(route: str, status: int, document: Any) -> None:
    """Fails unless the document matches GitHub's schema for this route and status."""
    schema = MISDESCRIBED.get(route) or {"$ref": f"github#{_pointer(route, status)}/content/application~1json/schema"}
    registry: Registry[Any] = Registry().with_resource("github", DRAFT4.create_resource(openapi()))
    Draft4Validator(schema, registry=registry, format_checker=FORMATS).validate(document)


def _pointer(route: str, status: int) -> str:
    """The place of the response's schema, which may be under a name that many routes share."""
    method, template = route.split(" ")
    response = openapi()["paths"][template][method.lower()]["responses"][str(status)]
    escaped = template.replace("/", "~1")
    return str(response.get("$ref", f"#/paths/{escaped}/{method.lower()}/responses/{status}").removeprefix("#"))


@cache
def openapi() -> Any:
    return json.loads(FILE.read_bytes(), object_hook=_as_json_schema)


def _as_json_schema(part: dict[str, Any]) -> dict[str, Any]:
    """OpenAPI 3.0 is JSON Schema draft 4 in all that matters here but `nullable`."""
    return {"anyOf": [{"type": "null"}, part]} if part.get("nullable") is True else part


@FORMATS.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


@FORMATS.checks("uri")
def _is_uri(value: object) -> bool:
    return not isinstance(value, str) or value == "" or urlsplit(value).scheme in ("http", "https")
