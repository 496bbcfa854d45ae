"""The arguments of UpdateItem calls: attributes to put, fill, add, discard and remove, and a condition."""

import os
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from runledger.tables import schema
from runledger.tables.attributes import Attributes, to_attributes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.literals import ReturnValueType


NOTHING: Mapping[str, Any] = {}
ABSENT = f"attribute_not_exists({schema.PARTITION})"  # the condition that creates an item
OWN_CLAIM = "#claimed_by = :claimed_by"


class Changes(TypedDict, total=False):
    """The arguments of `update_arguments`."""

    put: Mapping[str, Any]
    fill: Mapping[str, Any]
    add: Mapping[str, Any]
    discard: Mapping[str, Any]
    remove: Iterable[str]
    condition: str | None
    names: Iterable[str]
    given: Mapping[str, Any]
    returning: "ReturnValueType"


def update_arguments(
    *,
    put: Mapping[str, Any] = NOTHING,
    fill: Mapping[str, Any] = NOTHING,
    add: Mapping[str, Any] = NOTHING,
    discard: Mapping[str, Any] = NOTHING,
    remove: Iterable[str] = (),
    condition: str | None = None,
    names: Iterable[str] = (),
    given: Mapping[str, Any] = NOTHING,
    returning: "ReturnValueType" = "NONE",
) -> dict[str, Any]:
    """`fill` sets absent attributes; `add` and `discard` change counters and sets. None values are ignored.

    In `condition`, `#name` is an attribute that is changed or one of `names`, and `:name` is its new value or one of
    `given`.
    """
    put, fill, add, discard = (_without_none(values) for values in (put, fill, add, discard))
    removed = tuple(remove)
    arguments: dict[str, Any] = {"ConditionExpression": condition} if condition else {}
    if values := _values({**put, **fill, **add, **discard, **given}):
        arguments["ExpressionAttributeValues"] = values
    return {
        "UpdateExpression": _expression(tuple(put), tuple(fill), tuple(add), tuple(discard), removed),
        "ExpressionAttributeNames": {f"#{name}": name for name in (*put, *fill, *add, *discard, *removed, *names)},
        "ReturnValues": returning,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        **arguments,
    }


@lru_cache(maxsize=256)
def _expression(
    put: tuple[str, ...], fill: tuple[str, ...], add: tuple[str, ...], discard: tuple[str, ...], remove: tuple[str, ...]
) -> str:
    """Cached: a few expressions are used for all items."""
    clauses = {
        "SET": [f"#{name} = :{name}" for name in put] + [f"#{name} = if_not_exists(#{name}, :{name})" for name in fill],
        "ADD": [f"#{name} :{name}" for name in add],
        "DELETE": [f"#{name} :{name}" for name in discard],
        "REMOVE": [f"#{name}" for name in remove],
    }
    return " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses.items() if parts)


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _values(values: Mapping[str, Any]) -> Attributes:
    return {f":{name}": value for name, value in to_attributes(values).items()}


def advance_arguments(
    status: StrEnum, *, dated: str | None = None, unless: str | None = None, **changes: Unpack[Changes]
) -> Changes:
    """Makes the changes and sets `status`, unless the stored status has a higher precedence.

    Precedence is the order of definition in the enum. With `dated`, the name of an attribute in `put`, an item with the
    same status is updated only if its value isn't newer. Nothing is changed if the condition `unless` holds.
    """
    order = tuple(type(status))
    replaceable = {f"status{n}": lower for n, lower in enumerate(order[: order.index(status)])}
    put = {**changes.get("put", NOTHING), "status": status}
    accepted = ["attribute_not_exists(#status)", *(f"#status = :{name}" for name in replaceable)]
    if dated and put.get(dated) is not None:
        accepted.append(f"(#status = :status AND (attribute_not_exists(#{dated}) OR #{dated} <= :{dated}))")
    else:
        accepted.append("#status = :status")
    condition = " OR ".join(accepted)
    if unless:
        condition = f"({condition}) AND NOT ({unless})"
    return {**changes, "put": put, "condition": condition, "given": {**changes.get("given", NOTHING), **replaceable}}


def claim_arguments(*, at: str, until: str, expiry: int) -> Changes:
    return {
        "put": {"claimed_until": until, "claimed_by": new_owner()},
        "fill": {schema.EXPIRY: expiry},
        "condition": f"attribute_not_exists(#claimed_until) OR #claimed_until <= :now OR {OWN_CLAIM}",
        "given": {"now": at},
    }


def new_owner() -> str:
    """Unique per call. The SDK sends the same value when it retries a call whose response was lost."""
    return os.urandom(8).hex()
