"""Reads GitHub's JSON. Deliveries with an invalid id are rejected; other invalid values are omitted or shortened."""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from runledger.model import times
from runledger.model.errors import Malformed

LARGEST_ID = 2**63 - 1
LONGEST_TEXT = 256
MOST_LABELS = 50
MOST_PROPERTY_BYTES = 2048
# GitHub's rules: an owner has letters, digits, hyphens and (managed users) underscores; a name may also have dots, but
# is neither `.` nor `..`, which would change a URL's path. No look-ahead: Pydantic's engine doesn't support it.
OWNER = r"[A-Za-z0-9_-]+"
REPOSITORY_NAME = OWNER + r"/(?:\.{0,2}[A-Za-z0-9_-][A-Za-z0-9._-]*|\.{3,}[A-Za-z0-9._-]*)"

Json = Mapping[str, Any]


def parse(body: bytes) -> Json:
    return parse_object(body, "body", "is not JSON: the webhook's content type must be application/json")


def parse_object(body: bytes | str, name: str, not_json: str = "is not JSON") -> Json:
    try:
        payload = json.loads(body)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise Malformed(name, not_json) from error
    except RecursionError as error:
        raise Malformed(name, "is nested too deeply") from error
    except ValueError as error:  # Python limits the length of numbers, because parsing long ones takes minutes
        raise Malformed(name, "contains a number with too many digits") from error
    if not isinstance(payload, dict):
        raise Malformed(name, "must be a JSON object")
    return payload


def action(payload: Json) -> str:
    found = payload.get("action")
    if not isinstance(found, str):
        raise Malformed("action", "must be a string")
    return found


def section(payload: Json, path: str) -> Json:
    """A required object."""
    found = payload.get(_last(path))
    if not isinstance(found, dict):
        raise Malformed(path, "is missing" if found is None else "must be an object")
    return found


def optional_section(payload: Json, name: str) -> Json:
    found = payload.get(name)
    return found if isinstance(found, dict) else {}


def identifier(values: Json, path: str, *, default: int | None = None) -> int:
    found = values.get(_last(path))
    if found is None and default is not None:
        return default
    if found is None:
        raise Malformed(path, "is missing")
    if not _is_integer(found) or not 0 <= found <= LARGEST_ID:
        raise Malformed(path, f"must be a whole number from 0 to {LARGEST_ID}")
    return int(found)


def required_text(values: Json, path: str, *, longest: int = LONGEST_TEXT) -> str:
    found = values.get(_last(path))
    if found is None:
        raise Malformed(path, "is missing")
    if not isinstance(found, str) or not 0 < len(found) <= longest:
        raise Malformed(path, f"must be a string of 1 to {longest} characters")
    return _clean(found)


def is_repository_name(text: str) -> bool:
    return _is_repository_name(text) is not None


def repository_name(values: Json, path: str) -> str:
    """A required `owner/name`."""
    found = required_text(values, path)
    if not is_repository_name(found):
        raise Malformed(path, "must be a valid owner/name")
    return found


def positive_int(values: Json, name: str) -> int | None:
    """None if absent, or 0, which GitHub sends for an absent value."""
    found = values.get(name)
    return found if isinstance(found, int) and found is not True and 0 < found <= LARGEST_ID else None


def text(values: Json, name: str) -> str | None:
    found = values.get(name)
    return _clean(found)[:LONGEST_TEXT] if isinstance(found, str) and found else None


def flag(values: Json, name: str) -> bool | None:
    found = values.get(name)
    return found if isinstance(found, bool) else None


def instant(values: Json, name: str) -> str | None:
    found = values.get(name)
    try:
        return times.normalised(found) if isinstance(found, str) else None
    except ValueError:
        return None


def required_instant(values: Json, path: str) -> str:
    return _required(instant(values, _last(path)), path)


def required_time(values: Json, path: str) -> str:
    """An instant, or seconds since 1970: the format depends on the event."""
    seconds = positive_int(values, _last(path))
    try:
        found = times.from_epoch_ms(seconds * times.MS_PER_SECOND) if seconds else instant(values, _last(path))
    except (ValueError, OverflowError, OSError):  # beyond the year 9999
        found = None
    return _required(found, path)


def texts(values: Json, name: str) -> tuple[str, ...] | None:
    found = values.get(name)
    if not isinstance(found, list):
        return None
    return tuple(_clean(item)[:LONGEST_TEXT] for item in found if isinstance(item, str) and item)[:MOST_LABELS]


def properties(values: Json, name: str) -> dict[str, str | list[str]] | None:
    """A repository's custom properties, sorted by name; those beyond the size limit are omitted."""
    kept: dict[str, str | list[str]] = {}
    bytes_left = MOST_PROPERTY_BYTES
    for key in sorted(found := optional_section(values, name)):
        value = list(texts(found, key) or ()) or text(found, key)
        if not key or value is None:
            continue
        bytes_left -= len(json.dumps([key, value]))
        if bytes_left < 0:
            break
        kept[_clean(key)] = value
    return kept or None


def _required(found: str | None, path: str) -> str:
    if found is None:
        raise Malformed(path, f"must be a time such as {times.EXAMPLE}")
    return found


_is_repository_name = re.compile(REPOSITORY_NAME).fullmatch


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _clean(value: str) -> str:
    """Replaces lone surrogates, which JSON allows and DynamoDB doesn't."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


@cache
def _last(path: str) -> str:
    return path.rpartition(".")[2]
