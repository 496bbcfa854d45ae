"""Versions of packages: their order, and npm's version ranges.

Not every team uses semantic versions. Other versions are lower than all semantic ones and ordered as text. Only the
ranges `*` and the version itself include them.
"""

import re
from functools import lru_cache
from typing import Any

from semantic_version import NpmSpec, Version

ANY = "*"
WORKSPACE = "workspace:"  # in pnpm and yarn, the range of a package in the same repository
_spaces_after_operator = re.compile(r"([<>=^~])\s+")
_build_metadata = re.compile(r"\+[0-9A-Za-z.-]+")


def order(version: str) -> Any:
    """A sort key. Semantic versions of the same precedence are ordered as text."""
    parsed = _version(version)
    return (0, version) if parsed is None else (1, parsed.precedence_key, version)


def is_prerelease(version: str) -> bool:
    parsed = _version(version)
    return bool(parsed and parsed.prerelease)


def is_higher(version: str, than: str) -> bool:
    return bool(order(version) > order(than))


def is_later(version: str, than: str | None) -> bool:
    """Whether it replaces `than` as the latest version: a pre-release never replaces a release."""
    if than is None:
        return True
    if is_prerelease(version) != is_prerelease(than):
        return is_prerelease(than)
    return is_higher(version, than)


def includes(wanted: str, version: str) -> bool:
    """Whether npm would accept the version for this range. A range that npm can't parse includes only its own text."""
    if wanted == version:
        return True
    parsed, spec = _version(version), _spec(wanted)
    if parsed is None:
        return wanted.strip() in ("", ANY)
    return spec is not None and bool(spec.match(parsed))


@lru_cache(maxsize=1024)
def _version(text: str) -> Version | None:
    try:
        return Version(text.removeprefix("v"))
    except ValueError:
        return None


@lru_cache(maxsize=256)
def _spec(text: str) -> NpmSpec | None:
    """None if it isn't a range: a tag such as `latest`, a URL or a path."""
    wanted = text.strip().removeprefix(WORKSPACE)
    if wanted in ("^", "~"):
        wanted = ANY
    try:
        return NpmSpec(_build_metadata.sub("", _spaces_after_operator.sub(r"\1", wanted)))
    except (ValueError, AttributeError):  # the library raises AttributeError for `a - b`
        return None
