"""Entries of the secret with the API tokens: `{"name", "role", "sha256", "installations"}`, all four required.

An invalid entry is ignored, because its intent would be a guess: a mistyped `installations` must never grant access to
all of them. The other entries keep working.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.model.payload import LARGEST_ID

ALL = "*"
KEYS = frozenset({"name", "role", "sha256", "installations"})
SHA256 = re.compile(r"[0-9a-f]{64}")
DIGITS = re.compile(r"[0-9]{1,19}")
LONGEST_NAME = 100


class BadEntry(ValueError):
    """The reason is logged, so it never contains a value of the entry: one of them might be a token or its hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """`installations` is None for all of them."""

    name: str
    role: str
    sha256: str
    installations: frozenset[int] | None


def read_entries(listed: Any, *, roles: Collection[str], log_error: Callable[..., object]) -> list[Entry]:
    """The valid entries; each of the others is logged with its position, counted from 0, and the reason."""
    if not isinstance(listed, list):
        log_error("API tokens ignored", extra={"reason": "tokens must be a list"})
        return []
    read: dict[int, Entry] = {}
    for position, entry in enumerate(listed):
        try:
            read[position] = _entry(entry, roles)
        except BadEntry as error:
            _log_ignored(log_error, position, str(error))
    # Duplicates count among all entries, valid or not: fixing one entry must not change what another means.
    names = Counter(_texts(listed, "name"))
    hashes = Counter(each.lower() for each in _texts(listed, "sha256"))
    valid = []
    for position, found in read.items():
        if names[found.name] > 1:
            _log_ignored(log_error, position, "another entry has the same name: names must be unique")
        elif hashes[found.sha256] > 1:
            _log_ignored(log_error, position, "another entry has the same sha256: each token needs one entry")
        else:
            valid.append(found)
    return valid


def read_installations(given: Any, *, digits_allowed: bool = False) -> frozenset[int] | None:
    """None for `"*"`, which means all installations. Raises BadEntry for anything but that or a non-empty list of ids.

    `digits_allowed` accepts ids as strings of digits, for identity providers whose claims can only be strings.
    """
    if given == ALL:
        return None
    if not isinstance(given, list) or not given:
        raise BadEntry(f'installations must be "{ALL}" or a list of at least one installation id')
    return frozenset(_id(each, digits_allowed=digits_allowed) for each in given)


def _entry(entry: Any, roles: Collection[str]) -> Entry:
    if not isinstance(entry, dict):
        raise BadEntry("an entry must be a JSON object")
    if entry.keys() - KEYS:
        raise BadEntry(f"an entry can only have the keys {', '.join(sorted(KEYS))}; this one has another")
    if missing := KEYS - entry.keys():
        raise BadEntry(f"{' and '.join(sorted(missing))} must be set")
    name, role, sha256 = entry["name"], entry["role"], entry["sha256"]
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise BadEntry(f"name must be printable text of at most {LONGEST_NAME} characters")
    if not isinstance(role, str) or role not in roles:
        raise BadEntry(f"role must be one of {', '.join(sorted(roles))}")
    if not isinstance(sha256, str) or not SHA256.fullmatch(sha256.lower()):
        raise BadEntry("sha256 must be the SHA-256 of the token, as 64 hexadecimal digits")
    installations = read_installations(entry["installations"])
    return Entry(name=name, role=role, sha256=sha256.lower(), installations=installations)


def _id(given: Any, *, digits_allowed: bool) -> int:
    if digits_allowed and isinstance(given, str) and DIGITS.fullmatch(given):
        given = int(given)
    # bool is a subclass of int, and `true` is not an id.
    if type(given) is not int or not 0 <= given <= LARGEST_ID:
        raise BadEntry("installations must contain only installation ids, which are whole numbers")
    return given


def _texts(listed: Iterable[Any], key: str) -> Iterable[str]:
    return (entry[key] for entry in listed if isinstance(entry, dict) and isinstance(entry.get(key), str))


def _log_ignored(log_error: Callable[..., object], position: int, reason: str) -> None:
    log_error("API token ignored", extra={"entry": position, "reason": reason})
