"""Checks the demo's webhooks against GitHub's OpenAPI document."""

from typing import Any

from jsonschema import Draft4Validator
from referencing import Registry
from referencing.jsonschema import DRAFT4

from tests.local.github_openapi import FORMATS, openapi


def faults(event: str, payload: dict[str, Any]) -> list[str]:
    """What GitHub would never send, each with its place in the payload."""
    name = f"webhook-{event}-{payload['action']}".replace("_", "-")
    schema = {"$ref": f"github#/components/schemas/{name}"}
    registry: Registry[Any] = Registry().with_resource("github", DRAFT4.create_resource(openapi()))
    found = Draft4Validator(schema, registry=registry, format_checker=FORMATS).iter_errors(payload)
    return [f"{event} {payload['action']} {fault.json_path}: {fault.message}" for fault in found]
