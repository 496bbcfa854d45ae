"""The format of messages between functions. During an upgrade or rollback, one version reads messages from another.

A message contains the version of its format. Readers ignore unknown fields, so a field with a default can be added at
any time. A change that an older reader would misread needs a new version: older readers then leave the message in its
queue, until they are upgraded or it becomes a dead letter. docs/upgrading.md has the rules.
"""

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any, TypeVar

from runledger.model import payload, times
from runledger.model.errors import Malformed, NewerMessage

T = TypeVar("T")

FIELD = "version"
CORRELATION = "correlation_id"  # of the input that caused the message; absent from messages by earlier releases
FIRST, VERSION = 1, 1
MESSAGE = "message"
LONGEST_TEXT = 2048
COPIES = 2  # the version of webhook copies, a kind of message that earlier releases don't have


def stamp(values: Mapping[str, Any], *, correlation_id: str | None = None, version: int = VERSION) -> dict[str, Any]:
    return {FIELD: version, **values, **({CORRELATION: correlation_id} if correlation_id else {})}


def parse(message: str, *, supported: int = VERSION) -> Mapping[str, Any]:
    """The content of a queue message, of a version that is supported."""
    values = payload.parse_object(message, MESSAGE)
    check(values, supported=supported)
    return values


def check(values: Mapping[str, Any], *, supported: int = VERSION) -> None:
    """Raises NewerMessage if the version isn't supported. A message without a version has version 1."""
    version = values.get(FIELD, FIRST)
    if type(version) is not int or version < FIRST:
        raise Malformed(FIELD, f"must be a whole number from {FIRST}")
    if version > supported:
        raise NewerMessage(version, supported=supported)


def read(kind: type[T], value: Any, name: str = MESSAGE) -> T:
    """Creates a dataclass from JSON. The types of its fields restore enums, Decimals and tuples.

    Raises Malformed if a value has the wrong type. Checked here, because an error in the middle of recording would
    leave a partial write.
    """
    found: T = _read(kind, value, name)
    return found


def _read(kind: Any, value: Any, name: str) -> Any:
    if isinstance(kind, types.UnionType):
        given_type = next(member for member in kind.__args__ if member is not type(None))
        return None if value is None else _read(given_type, value, name)
    if dataclasses.is_dataclass(kind):
        return value if isinstance(value, kind) else _read_fields(kind, value, name)  # type: ignore[arg-type]
    if typing.get_origin(kind) is tuple:
        members = value if isinstance(value, list | tuple) else _reject(name, "must be a list")
        return tuple(_read(typing.get_args(kind)[0], member, name) for member in members)
    if isinstance(kind, type) and issubclass(kind, StrEnum | Decimal):
        return _converted(kind, value, name)
    plain: Callable[[Any, str], Any] = _PLAIN.get(kind, _properties)
    return plain(value, name)


def _read_fields(kind: Any, value: Any, name: str) -> Any:
    if not isinstance(value, dict):
        _reject(name, "must be an object")
    hints = typing.get_type_hints(kind)
    found = {}
    for field in dataclasses.fields(kind):
        if field.name in value:
            found[field.name] = _read(hints[field.name], value[field.name], field.name)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            _reject(field.name, "is missing")
    return kind(**found)


def _text(value: Any, name: str) -> str:
    found = payload.required_text({name: value}, name, longest=LONGEST_TEXT)
    if (name == "at" or name.endswith("_at")) and payload.instant({name: found}, name) != found:
        _reject(name, f"must be a time such as {times.EXAMPLE}")
    if name == "repo_full_name":
        return payload.repository_name({name: found}, name)
    return found


def _whole(value: Any, name: str) -> int:
    return payload.identifier({name: value}, name)


def _flag(value: Any, name: str) -> bool:
    return value if isinstance(value, bool) else _reject(name, "must be true or false")


def _converted(kind: type[StrEnum] | type[Decimal], value: Any, name: str) -> StrEnum | Decimal:
    try:
        converted = kind(value)
        if isinstance(converted, Decimal) and not converted.is_finite():
            raise InvalidOperation
    except (ValueError, TypeError, InvalidOperation):
        _reject(name, "is not a number" if kind is Decimal else f"must be one of {', '.join(kind)}")  # type: ignore[arg-type]
    return converted


def _properties(value: Any, name: str) -> Mapping[str, Any]:
    """A repository's custom properties: strings or lists of strings."""
    if not isinstance(value, dict):
        _reject(name, "must be an object")
    return {
        _text(key, name): [_text(each, name) for each in found] if isinstance(found, list) else _text(found, name)
        for key, found in value.items()
    }


def _reject(name: str, problem: str) -> typing.NoReturn:
    raise Malformed(name, problem)


_PLAIN: Mapping[Any, Callable[[Any, str], Any]] = {str: _text, int: _whole, bool: _flag}
