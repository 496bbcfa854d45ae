"""Names the parameter or field of a request that is wrong, and describes valid values.

Pydantic's own messages contain regular expressions and the types of Python.
"""

from collections.abc import Mapping
from typing import Any

INSTANT = "should be an ISO 8601 time, such as 2025-01-15T10:00:00Z, or an age such as 30m, 24h or 7d"
DAY = "should be a date, such as 2025-01-15"
# Of parameters whose values have a pattern.
FORMATS = {
    "since": INSTANT,
    "until": INSTANT,
    "day": DAY,
    "repo": "should be the owner and name of a repository, such as acme/api",
    "delivery_id": "should be GitHub's numeric id of a delivery, or its X-GitHub-Delivery header",
    "runner_id": "should be an instance id, a task's ARN, URL-encoded, or the id of a job or run",
    "pass_id": "should be the id of a pass: GET /admin/reconciliation lists them",
    "type": "should be an event type, such as job.failed",
    "after": "should be the id of an event in the feed",
    "event_id": "should be the id of an event in the feed",
    "subscription_id": "should be the id of a subscription",
    "subscription": "should be the id of a subscription",
    "message_id": "should be the id of a message",
    "sha256": "should be a SHA-256 of 64 hexadecimal digits",
    "owner": "should be the owner of a repository, such as acme in acme/api",
    "repository": "should be the name of a repository, such as api in acme/api",
    "name": "should consist of at most 100 letters, digits, - and _",
}
PATTERN = "string_pattern_mismatch"
MALFORMED_JSON = "json_invalid"
# By Pydantic's type of the error, with the limits that were exceeded.
PROBLEMS = {
    **dict.fromkeys(("int_parsing", "int_parsing_size", "int_from_float", "int_type"), "should be a whole number"),
    "bool_parsing": "should be true or false",
    "greater_than_equal": "should be at least {ge}",
    "less_than_equal": "should be at most {le}",
    "string_type": "should be text",
    "string_too_long": "should have at most {max_length} characters",
    "missing": "is missing",
    "extra_forbidden": "isn't a field of this request",
    "literal_error": "should be {expected}",
    MALFORMED_JSON: "isn't valid JSON",
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "should be a JSON object"),
}


def parameter_error(found: Mapping[str, Any]) -> dict[str, str]:
    """Pydantic reports a type, and a location such as `("query", "limit")`. A body's location may end with a place."""
    location = [str(part) for part in found["loc"]]
    is_whole_body = len(location) == 1 or found["type"] == MALFORMED_JSON
    name = location[0] if is_whole_body else ".".join(location[1:])
    return {"parameter": name, "problem": _problem(name, found)}


def _problem(name: str, found: Mapping[str, Any]) -> str:
    if found["type"] == PATTERN and name in FORMATS:
        return FORMATS[name]
    known = PROBLEMS.get(found["type"])
    return known.format_map(found.get("ctx", {})) if known else "isn't valid: see /openapi.json"
