"""Checks of every request and its response."""

from collections.abc import Mapping
from typing import Any

from runledger.tables import schema

from tests.simulation import paths
from tests.simulation.conditions import Condition, condition
from tests.simulation.storage import Key, key_of
from tests.simulation.values import Item, Rejected, Value, copied, normal, size_of

Response = dict[str, Any]
Call = Mapping[str, Any]

LARGEST_ITEM = 409_600
NONE: Mapping[str, Any] = {}
NO_CONDITION = Condition(lambda *_: True, frozenset(), frozenset())


def exact_key(given: Call) -> Key:
    if len(given) != 2:
        raise Rejected("The provided key element does not match the schema")
    return key_of(given)


def guard_of(text: str | None) -> Condition:
    return NO_CONDITION if text is None else condition(text)


def checked_values(
    first: Any, names: Mapping[str, str], given: Call, *others: Any, more_names: frozenset[str] = frozenset()
) -> dict[str, Value]:
    """Placeholders and expressions must fit exactly; what comes back are the values in normal form."""
    used_names, used_values = first.names | more_names, first.values
    for other in others:
        used_names, used_values = used_names | other.names, used_values | other.values
    for kind, used, defined in (("Names", used_names, names), ("Values", used_values, given)):
        if used != defined.keys():
            if missing := used - defined.keys():
                raise Rejected(f"An expression attribute {kind[:-1].lower()} is not defined: {sorted(missing)}")
            unused = sorted(defined.keys() - used)
            raise Rejected(f"Value provided in ExpressionAttribute{kind} unused in expressions: keys: {unused}")
    return {name: normal(value) for name, value in given.items()}


def check_condition(
    guard: Condition, before: Item | None, names: Mapping[str, str], values: dict[str, Value], returned: str
) -> None:
    if guard.holds(before if before is not None else NONE, names, values):
        return
    item = {"Item": copied(before)} if returned == "ALL_OLD" and before is not None else {}
    raise Rejected("The conditional request failed", code="ConditionalCheckFailedException", **item)


def check_targets(targets: list[paths.Path]) -> None:
    paths.check_overlap("UpdateExpression", targets)
    for path in targets:
        if path[0] in (schema.PARTITION, schema.SORT):
            raise Rejected(f"Cannot update attribute {path[0]}. This attribute is part of the key")


def sized(item: Mapping[str, Value], message: str) -> Item:
    stored = Item(item)
    stored.size = size_of(stored)
    if stored.size > LARGEST_ITEM:
        raise Rejected(message)
    return stored


def check_return_values(given: str, *allowed: str) -> None:
    if given not in allowed:
        raise Rejected(f"Return values set to invalid value: {given}")


def returned_attributes(
    wanted: str, before: Item | None, after: Item, targets: list[paths.Path]
) -> Mapping[str, Value] | None:
    if wanted == "NONE":
        return None
    if any(len(path) > 1 for path in targets) and wanted.startswith("UPDATED"):
        raise NotImplementedError("UPDATED_OLD and UPDATED_NEW of nested paths")
    of = before if wanted.endswith("OLD") else after
    if of is None or wanted.startswith("ALL"):
        return of
    return {name: of[name] for name in (str(path[0]) for path in targets) if name in of}


def with_attributes(item: Mapping[str, Value] | None) -> Response:
    return {"Attributes": copied(item)} if item else {}
