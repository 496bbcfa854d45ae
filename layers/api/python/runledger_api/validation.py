"""Names the parameter or field of a request that is wrong, and describes valid values.

Pydantic's own messages contain regular expressions and Python types.
"""

from collections.abc import Mapping
from typing import Any

INSTANT = "must be an ISO 8601 time, such as 2025-01-15T10:00:00Z, or an age such as 30m, 24h or 7d"
DAY = "must be a date, such as 2025-01-15"
# For parameters whose values must match a pattern.
FORMATS = {
    "since": INSTANT,
    "until": INSTANT,
    "day": DAY,
    "repo": "must be the owner and name of a repository, such as acme/api",
    "delivery_id": "must be GitHub's numeric id of a delivery, or its X-GitHub-Delivery header",
    "runner_id": "must be an instance id, a task's ARN, URL-encoded, or the id of a job or run",
    "pass_id": "must be the id of a pass: GET /admin/reconciliation lists them",
    "type": "must be an event type, such as job.failed",
    "after": "must be the id of an event in the feed",
    "event_id": "must be the id of an event in the feed",
    "subscription_id": "must be the id of a subscription",
    "subscription": "must be the id of a subscription",
    "message_id": "must be the id of a message",
    "sha256": "must be a SHA-256 of 64 hexadecimal digits",
    "owner": "must be the owner of a repository, such as acme in acme/api",
    "repository": "must be the name of a repository, such as api in acme/api",
    "name": "must contain only letters, digits, - and _, and at most 100 characters",
}
PATTERN = "string_pattern_mismatch"
MALFORMED_JSON = "json_invalid"
# By the type of Pydantic's error. The limits are those that the value exceeds.
PROBLEMS = {
    **dict.fromkeys(("int_parsing", "int_parsing_size", "int_from_float", "int_type"), "must be a whole number"),
    "bool_parsing": "must be true or false",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "string_type": "must be a string",
    "string_too_long": "must have at most {max_length} characters",
    "missing": "is missing",
    "extra_forbidden": "isn't a field of this request",
    "literal_error": "must be {expected}",
    MALFORMED_JSON: "isn't valid JSON",
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "must be a JSON object"),
}


def parameter_error(found: Mapping[str, Any]) -> dict[str, str]:
    """Pydantic reports a type, and a location such as `("query", "limit")`. For malformed JSON, the
    location ends with a position in the body.
    """
    location = [str(part) for part in found["loc"]]
    is_whole_body = len(location) == 1 or found["type"] == MALFORMED_JSON
    name = location[0] if is_whole_body else ".".join(location[1:])
    return {"parameter": name, "problem": _problem(name, found)}


def _problem(name: str, found: Mapping[str, Any]) -> str:
    if found["type"] == PATTERN and name in FORMATS:
        return FORMATS[name]
    known = PROBLEMS.get(found["type"])
    return known.format_map(found.get("ctx", {})) if known else "isn't valid: see /openapi.json"
