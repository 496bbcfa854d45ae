"""The data of messages, checked before a message is created. Pure.

docs/feed has the schemas of events, docs/notifications those of other messages. A library for them would add megabytes
to each function, so the checks here are those that texts and channels rely on: a test compares them with the schemas.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from runledger.feeds import json_data
from runledger.feeds.envelope import SCHEMAS
from runledger.feeds.events import FeedType
from runledger.model.errors import Malformed
from runledger.notifications.texts import OwnType

LONGEST_TITLE, LONGEST_TEXT, LONGEST_URL = 200, 4000, 2000
LONGEST_TAG, MOST_TAGS = 50, 5
LOWEST_PRIORITY, HIGHEST_PRIORITY = 1, 5
REQUIRED: Mapping[str, Mapping[str, type]] = {
    "job": {"installation_id": int, "job_id": int, "status": str, "created_at": str},
    "reconciliation": {"installation_id": int, "job_id": int, "status": str, "changes": dict},
    "run": {"installation_id": int, "run_id": int, "run_attempt": int, "repo_full_name": str, "status": str},
    "approval": {"installation_id": int, "waiting_since": str, "job_ids": list},
    "runner": {"installation_id": int, "runner_id": str, "status": str},
    "deployment": {"installation_id": int, "deployment_id": int, "repo_full_name": str, "status": str},
    "head": {
        "installation_id": int,
        "repo_full_name": str,
        "head_branch": str,
        "is_default_branch": bool,
        "workflow_id": int,
        "state": str,
        "since": str,
        "run_id": int,
    },
    "environment": {
        "installation_id": int,
        "repo_full_name": str,
        "environment": str,
        "is_active": bool,
        "is_rollback": bool,
        "since": str,
        "current": dict,
    },
    "release": {
        "installation_id": int,
        "name": str,
        "version": str,
        "status": str,
        "published_at": str,
        "total_dependents": int,
    },
}


def check(payload: Mapping[str, Any], *, installation_id: int) -> None:
    """Malformed if the CloudEvent isn't one of this installation, or if its data doesn't match its type."""
    if payload.get("source") != f"/v1/installations/{installation_id}":
        raise Malformed("source", f"must be installation {installation_id}")
    message_type, data = payload["type"], cast("Any", payload.get("data"))
    if message_type in set(FeedType) and "data" in payload:
        _check_fields(data, REQUIRED[SCHEMAS[FeedType(message_type)]])
        if data["installation_id"] != installation_id:
            raise Malformed("data.installation_id", f"must be {installation_id}")
    elif message_type in (OwnType.MESSAGE, OwnType.REMINDER, OwnType.TEST):
        check_text(data)


def check_text(data: Any) -> dict[str, Any]:
    """The data of a message that a person wrote. Malformed if it isn't valid."""
    if not isinstance(data, Mapping):
        raise Malformed("data", "must be an object")
    if unknown := sorted(data.keys() - TEXT_FIELDS.keys()):
        raise Malformed(unknown[0], f"isn't a field of a message; it has {', '.join(TEXT_FIELDS)}")
    if problem := json_data.problem_of(dict(data)):
        raise Malformed("text", problem)
    if "text" not in data:
        raise Malformed("text", "is missing")
    return {name: check(name, data[name]) for name, check in TEXT_FIELDS.items() if data.get(name) is not None}


def _check_fields(data: Any, required: Mapping[str, type]) -> None:
    if not isinstance(data, Mapping):
        raise Malformed("data", "must be an object")
    for name, kind in required.items():
        if not isinstance(data.get(name), kind):
            raise Malformed(f"data.{name}", "is missing or has another type")


def _text(longest: int) -> Callable[[str, Any], str]:
    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or not 0 < len(value.strip()) <= len(value) <= longest:
            raise Malformed(name, f"must be text of 1 to {longest} characters")
        return value

    return check


def _priority(name: str, value: Any) -> int:
    if type(value) is not int or not LOWEST_PRIORITY <= value <= HIGHEST_PRIORITY:
        raise Malformed(name, f"must be a number from {LOWEST_PRIORITY} (lowest) to {HIGHEST_PRIORITY} (highest)")
    return value


def _tags(name: str, value: Any) -> list[str]:
    valid = isinstance(value, list) and len(value) <= MOST_TAGS
    if not valid or not all(isinstance(each, str) and 0 < len(each) <= LONGEST_TAG for each in value):
        raise Malformed(name, f"must be at most {MOST_TAGS} texts of at most {LONGEST_TAG} characters")
    return list(value)


def _url(name: str, value: Any) -> str:
    try:
        parts = urlsplit(value) if isinstance(value, str) and len(value) <= LONGEST_URL else None
    except ValueError:
        parts = None
    if parts is None or parts.scheme not in ("https", "http") or not parts.hostname or not value.isprintable():
        raise Malformed(name, "must be an address that begins with https:// or http://")
    return str(value)


TEXT_FIELDS: Mapping[str, Callable[[str, Any], Any]] = {
    "title": _text(LONGEST_TITLE),
    "text": _text(LONGEST_TEXT),
    "priority": _priority,
    "tags": _tags,
    "click_url": _url,
}
