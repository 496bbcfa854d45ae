"""Checks of the values that publishers report: names of packages, versions, texts and numbers. Pure."""

import re
from typing import Any

from runledger.model.errors import Malformed
from runledger.model.packages import LONGEST_NAME
from runledger.model.payload import LARGEST_ID, REPOSITORY_NAME

LONGEST_VERSION, LONGEST_TEXT, LONGEST_REPOSITORY = 100, 100, 200
NAME_FORMAT = f"must have letters, digits, dots, @, /, _ and - only, at most {LONGEST_NAME} of them"
VERSION_FORMAT = f"must have letters, digits, dots, plus signs, _ and - only, at most {LONGEST_VERSION} of them"
# No part consists of dots only: clients and proxies resolve such parts of a path.
_PART = r"(?:\.*[A-Za-z0-9_-][A-Za-z0-9._-]*)"
_is_name = re.compile(rf"@?{_PART}(?:/{_PART})*").fullmatch
_is_version = re.compile(r"\.*[A-Za-z0-9+_-][A-Za-z0-9.+_-]*").fullmatch
_is_repository = re.compile(REPOSITORY_NAME).fullmatch
_is_sha = re.compile(r"[0-9a-f]{7,64}").fullmatch


def package_name(value: Any, *, field: str = "name") -> str:
    if not (isinstance(value, str) and is_name(value)):
        raise Malformed(field, NAME_FORMAT)
    return value


def is_name(value: str) -> bool:
    return len(value) <= LONGEST_NAME and _is_name(value) is not None


def is_version(value: str) -> bool:
    return len(value) <= LONGEST_VERSION and _is_version(value) is not None


def version(value: Any, *, field: str = "version") -> str:
    if not (isinstance(value, str) and is_version(value)):
        raise Malformed(field, VERSION_FORMAT)
    return value


def text(value: Any, *, field: str, longest: int = LONGEST_TEXT) -> str:
    """Text without line breaks."""
    if not (isinstance(value, str) and 0 < len(value) <= longest and value.isprintable()):
        raise Malformed(field, f"must be printable text of 1 to {longest} characters")
    return value


def prose(value: Any, *, field: str, longest: int) -> str:
    """Text that may have several lines."""
    if (
        not isinstance(value, str)
        or len(value) > longest
        or not value.replace("\n", "").replace("\t", "").isprintable()
    ):
        raise Malformed(field, f"must be printable text of at most {longest} characters")
    return value


def repository(value: Any, *, field: str = "repo_full_name") -> str:
    if not (isinstance(value, str) and len(value) <= LONGEST_REPOSITORY and _is_repository(value)):
        raise Malformed(field, "must be the owner and name of a repository, such as acme/api")
    return value


def commit(value: Any, *, field: str = "head_sha") -> str:
    if not (isinstance(value, str) and _is_sha(value)):
        raise Malformed(field, "must be the id of a commit, in hexadecimal digits")
    return value


def number(value: Any, *, field: str, least: int = 0, most: int = LARGEST_ID) -> int:
    if not (type(value) is int and least <= value <= most):
        raise Malformed(field, f"must be a whole number from {least} to {most}")
    return value
