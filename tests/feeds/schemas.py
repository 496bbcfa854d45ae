"""The JSON Schemas of docs/feed, one for each family of events."""

import json
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

from local import ROOT

FOLDER = ROOT / "docs" / "feed"
SCHEMAS: Mapping[str, Any] = {
    schema["$id"]: schema for schema in (json.loads(file.read_text()) for file in FOLDER.glob("*.schema.json"))
}


def problems(event: Mapping[str, Any]) -> list[str]:
    """What of an event's data doesn't match its schema."""
    validator = Draft202012Validator(SCHEMAS[event["dataschema"]], format_checker=FormatChecker())
    return [f"{event['type']}: {error.message}" for error in validator.iter_errors(event["data"])]
