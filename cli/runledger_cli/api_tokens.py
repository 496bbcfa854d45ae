"""API tokens, and the JSON document that stores their hashes: see docs/api.md. This module calls no service."""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import Any

from runledger_cli.errors import CommandError, UsageError

ROLES = ("reader", "publisher", "operator")
ALL = "*"
LONGEST_NAME = 100
RANDOM_BYTES = 32
NESTED = "the secret is nested too deeply to be read, so no token works: correct it first, see docs/api.md"


def new_token() -> str:
    return f"rl_{secrets.token_urlsafe(RANDOM_BYTES)}"


def new_entry(token: str, *, name: str, role: str, installations: str | list[int]) -> dict[str, Any]:
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise UsageError(f"the name of a token must be printable text of at most {LONGEST_NAME} characters")
    digest = hashlib.sha256(token.encode()).hexdigest()
    return {"name": name, "role": role, "sha256": digest, "installations": installations}


def add(text: str, entry: dict[str, Any]) -> str:
    """The document with one more entry. Everything else is kept, including invalid entries."""
    document, entries = _read(text)
    if entry["name"] in _names(entries):
        raise CommandError(
            f"a token named {entry['name']!r} already exists: choose another name, or remove that token first"
        )
    return _write(document, [*entries, entry])


def remove(text: str, name: str) -> str:
    """The document without the entries with this name."""
    document, entries = _read(text)
    kept = [each for each in entries if not (isinstance(each, dict) and each.get("name") == name)]
    if len(kept) == len(entries):
        names = ", ".join(map(repr, _names(entries))) or "none"
        raise CommandError(f"there is no token named {name!r}; the tokens are: {names}")
    return _write(document, kept)


def _read(text: str) -> tuple[dict[str, Any], list[Any]]:
    try:
        document = json.loads(text)
        entries = document["tokens"]
        if not isinstance(entries, list):
            raise TypeError
    except RecursionError as error:
        raise CommandError(NESTED) from error
    except (ValueError, TypeError, KeyError) as error:
        raise CommandError(
            "the secret isn't a JSON object with a list `tokens`, so no token works: correct it first, see docs/api.md"
        ) from error
    return document, entries


def _names(entries: list[Any]) -> list[Any]:
    return [each.get("name") for each in entries if isinstance(each, dict)]


def _write(document: dict[str, Any], entries: list[Any]) -> str:
    try:
        return json.dumps({**document, "tokens": entries})
    except RecursionError as error:
        raise CommandError(NESTED) from error
