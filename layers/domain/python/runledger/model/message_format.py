"""The format of messages between functions. During an upgrade or rollback, one version reads messages of another.

A message contains the version of its format. Readers ignore unknown fields, so a field with a default can be added at
any time. A change that an older reader would misread needs a new VERSION: older readers then leave the message in its
queue, until they are upgraded or it becomes a dead letter. docs/upgrading.md has the rules.
"""

import dataclasses
import types
import typing
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any

from runledger.model.errors import NewerMessage

FIELD = "version"
CORRELATION = "correlation_id"  # of the input that caused the message; absent from messages of earlier releases
FIRST, VERSION = 1, 1


def stamp(values: Mapping[str, Any], *, correlation_id: str | None = None) -> dict[str, Any]:
    return {FIELD: VERSION, **values, **({CORRELATION: correlation_id} if correlation_id else {})}


def check(values: Mapping[str, Any]) -> None:
    """NewerMessage if the version isn't supported. A message without a version has the first."""
    version = values.get(FIELD, FIRST)
    if type(version) is not int or version < FIRST:
        raise ValueError(f"{FIELD} must be a whole number from {FIRST}")
    if version > VERSION:
        raise NewerMessage(version, supported=VERSION)


def read(kind: Any, value: Any) -> Any:
    """Creates a dataclass from JSON. The types of its fields restore enums, Decimals and tuples."""
    if isinstance(kind, types.UnionType):
        given_type = next(member for member in kind.__args__ if member is not type(None))
        return None if value is None else read(given_type, value)
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        names = [field.name for field in dataclasses.fields(kind) if field.name in value]
        return kind(**{name: read(hints[name], value[name]) for name in names})  # type: ignore[operator]
    if isinstance(kind, type) and issubclass(kind, StrEnum | Decimal):
        return kind(value)
    return tuple(value) if typing.get_origin(kind) is tuple else value
