"""UpdateItem, said in words: what is put, filled, added, discarded and removed, and on which condition."""

import os
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from runledger.tables import schema
from runledger.tables.attributes import Attributes, from_attributes, is_refusal, to_attributes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.literals import ReturnValueType

NOTHING: Mapping[str, Any] = {}
OWN_CLAIM = "#claimed_by = :claimed_by"


def update(
    client: "DynamoDBClient",
    table: str,
    key: Mapping[str, str],
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
    """`fill` sets what is absent; `add` and `discard` change counters and sets; a None says nothing.

    In `condition`, `#name` is any attribute that is touched or one of `names`, and `:name` its new value or one of
    `given`.
    """
    put, fill, add, discard = (_said(values) for values in (put, fill, add, discard))
    removed = tuple(remove)
    arguments: dict[str, Any] = {"ConditionExpression": condition} if condition else {}
    if values := _values({**put, **fill, **add, **discard, **given}):
        arguments["ExpressionAttributeValues"] = values
    answer = client.update_item(
        TableName=table,
        Key=to_attributes(key),
        UpdateExpression=_expression(tuple(put), tuple(fill), tuple(add), tuple(discard), removed),
        ExpressionAttributeNames={f"#{name}": name for name in (*put, *fill, *add, *discard, *removed, *names)},
        ReturnValues=returning,
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
        **arguments,
    )
    return from_attributes(answer.get("Attributes", {}))


@lru_cache(maxsize=256)
def _expression(
    put: tuple[str, ...], fill: tuple[str, ...], add: tuple[str, ...], discard: tuple[str, ...], remove: tuple[str, ...]
) -> str:
    """Kept, for the same few are said again and again."""
    clauses = {
        "SET": [f"#{name} = :{name}" for name in put] + [f"#{name} = if_not_exists(#{name}, :{name})" for name in fill],
        "ADD": [f"#{name} :{name}" for name in add],
        "DELETE": [f"#{name} :{name}" for name in discard],
        "REMOVE": [f"#{name}" for name in remove],
    }
    return " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses.items() if parts)


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _values(values: Mapping[str, Any]) -> Attributes:
    return {f":{name}": value for name, value in to_attributes(values).items()}


def update_if(client: "DynamoDBClient", table: str, key: Mapping[str, str], **about: Any) -> dict[str, Any] | None:
    """None if the condition is refused."""
    held, item = update_or_read(client, table, key, **about)
    return item if held else None


def update_or_read(
    client: "DynamoDBClient", table: str, key: Mapping[str, str], **about: Any
) -> tuple[bool, dict[str, Any]]:
    """Whether the condition held, and what the update returns. A refusal returns the item as it is.

    DynamoDB Local returns an empty one.
    """
    try:
        return True, update(client, table, key, **about)
    except ClientError as error:
        if not is_refusal(error):
            raise
        stored: Attributes = error.response.get("Item", {})  # type: ignore[assignment]
        return False, from_attributes(stored)


def advance(
    client: "DynamoDBClient",
    table: str,
    key: Mapping[str, str],
    status: StrEnum,
    *,
    dated: str | None = None,
    unless: str | None = None,
    **about: Any,
) -> dict[str, Any] | None:
    """An update that also puts `status`, or None and no change at all if what stands there is further.

    A status is as far as its place among its kind: what is defined first may be replaced by what is defined later.
    With `dated`, the name of an attribute that is put, the same status is replaced only if that is not older.
    Nothing is replaced if the condition `unless` holds.
    """
    order = tuple(type(status))
    replaceable = {f"status{n}": each for n, each in enumerate(order[: order.index(status)])}
    about["put"] = {**about.get("put", NOTHING), "status": status}
    news = ["attribute_not_exists(#status)", *(f"#status = :{name}" for name in replaceable)]
    if dated and about["put"].get(dated) is not None:
        news.append(f"(#status = :status AND (attribute_not_exists(#{dated}) OR #{dated} <= :{dated}))")
    else:
        news.append("#status = :status")
    condition = " OR ".join(news)
    if unless:
        condition = f"({condition}) AND NOT ({unless})"
    return update_if(client, table, key, condition=condition, given=replaceable, **about)


def claim(client: "DynamoDBClient", table: str, key: Mapping[str, str], *, at: str, until: str, expiry: int) -> bool:
    """The right to ask GitHub about an item, for a short while: False if another process has it."""
    claimed = update_if(
        client,
        table,
        key,
        put={"claimed_until": until, "claimed_by": new_owner()},
        fill={schema.EXPIRY: expiry},
        condition=f"attribute_not_exists(#claimed_until) OR #claimed_until <= :now OR {OWN_CLAIM}",
        given={"now": at},
    )
    return claimed is not None


def new_owner() -> str:
    """Differs from call to call, and is the same when the SDK repeats a call whose answer was lost."""
    return os.urandom(8).hex()
