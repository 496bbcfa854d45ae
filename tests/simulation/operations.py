"""Requests to compare engines with: those that the domain sends, and random ones over few items, so that they meet."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from runledger.tables import schema

from tests.simulation.engine import Paginator

JOBS, RUNS = schema.WORKFLOW_JOBS.name, schema.WORKFLOW_RUNS.name
PARTITIONS, SORTS = ("1#1", "1#2", "1#3"), ("v", "w")
STATUSES = ("1#queued", "1#completed")
TIMES = tuple(f"2025-01-15T10:{number // 60:02}:{number % 60:02}.000Z" for number in range(600))


@dataclass(frozen=True, slots=True)
class Request:
    operation: str
    arguments: dict[str, Any]


class Recorder:
    """A client that passes every request on and keeps it."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.requests: list[Request] = []

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            self.requests.append(Request(operation, arguments))
            return getattr(self._client, operation)(**arguments)

        return call

    def get_paginator(self, operation: str) -> Any:
        return Paginator(getattr(self, operation))


VALUES: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    ":number": lambda dice: {"N": dice.choice(("0", "1", "-7", "2.50", "1E3", "007", "12345678901234567890.5"))},
    ":text": lambda dice: {"S": dice.choice(("a", "ab", "b", "é", "2025-01-15"))},
    ":numbers": lambda dice: {"NS": dice.sample(("1", "2", "3", "10"), dice.randint(1, 3))},
    ":texts": lambda dice: {"SS": dice.sample(("a", "b", "ab"), dice.randint(1, 2))},
    ":bytes": lambda dice: {"B": dice.choice((b"\x00", b"\x00\x01", b"\xff"))},
    ":flag": lambda dice: {"BOOL": dice.random() < 0.5},
    ":map": lambda dice: {"M": {"inside": {"N": str(dice.randint(0, 2))}, "list": {"L": [{"S": "a"}]}}},
    ":list": lambda dice: {"L": [{"S": "a"}, {"N": str(dice.randint(0, 2))}]},
    ":status": lambda dice: {"S": dice.choice(STATUSES)},
    ":time": lambda dice: {"S": dice.choice(TIMES)},
}
ATTRIBUTES = {
    "count": ":number",
    "word": ":text",
    "ids": ":numbers",
    "tags": ":texts",
    "raw": ":bytes",
    "flag": ":flag",
    "document": ":map",
    "entries": ":list",
    "by_status": ":status",
    "created_at": ":time",
}
SETTERS = (
    *(f"#{name} = {value}" for name, value in ATTRIBUTES.items()),
    *(f"#{name} = if_not_exists(#{name}, {value})" for name, value in ATTRIBUTES.items()),
    "#count = #count + :number",
    "#count = if_not_exists(#count, :number) - :number",
    "#entries = list_append(#entries, :list)",
    "#document.inside = :text",
    "#document.#word = :number",
    "#entries[0] = :number",
    "#word = #document.inside",
    "#word = #count",
    "#ids = :texts",
)
ADDERS = ("#count :number", "#ids :numbers", "#tags :texts", "#word :number", "#ids :texts")
DELETERS = ("#ids :numbers", "#tags :texts", "#word :texts")
REMOVERS = (*(f"#{name}" for name in ATTRIBUTES), "#document.inside", "#entries[0]", "#entries[5]")
CONDITIONS = (
    *(
        "attribute_exists(PK)",
        "attribute_not_exists(PK)",
        "attribute_not_exists(#word)",
        "attribute_exists(#document.inside)",
    ),
    *("#count = :number", "#count <> :number", "#count < :number", ":number <= #count", "#word >= :text"),
    *("#word > :number", "#raw < :bytes", "#ids = :numbers", "#document = :map", "#flag = :flag", "#flag <> :flag"),
    *("#word IN (:text, :status)", "#count IN (:number, :text)", "#count BETWEEN :zero AND :ten"),
    *("begins_with(#word, :text)", "begins_with(#count, :text)", "attribute_type(#word, :type)"),
    *("contains(#ids, :number)", "contains(#tags, :text)", "contains(#word, :text)", "contains(#entries, :text)"),
    *("size(#word) > :number", "size(#ids) <= :number", "size(#document) = :number", "#word <> #document.inside"),
    "#entries[0] = :text",
)
QUERIED = (
    "PK = :pk",
    "PK = :pk AND SK = :sk",
    "#pk = :pk AND SK >= :sk",
    "PK = :pk AND begins_with(SK, :sk)",
    "PK = :pk AND SK BETWEEN :sk AND :high",
)
INDEXED = (
    "#by_status = :status",
    "#by_status = :status AND #created_at < :time",
    "#by_status = :status AND #created_at >= :time",
    "#by_status = :status AND #created_at BETWEEN :low AND :time",
    "#by_status = :status AND begins_with(#created_at, :text)",
)
FIXED = {
    ":zero": {"N": "0"},
    ":ten": {"N": "10"},
    ":type": {"S": "S"},
    ":low": {"S": "2025-01-15T10:02"},
    ":high": {"S": "z"},
    ":pk": {"S": PARTITIONS[0]},
    ":sk": {"S": SORTS[0]},
}


def random_requests(dice: random.Random) -> Iterator[Request]:
    kinds = (_put, _update, _update, _update, _delete, _get, _batch, _query, _indexed)
    while True:
        yield dice.choice(kinds)(dice)


def _key(dice: random.Random) -> dict[str, Any]:
    return {"PK": {"S": dice.choice(PARTITIONS)}, "SK": {"S": dice.choice(SORTS)}}


def _put(dice: random.Random) -> Request:
    chosen = dice.sample(sorted(ATTRIBUTES), dice.randint(0, len(ATTRIBUTES)))
    item = _key(dice) | {name: VALUES[ATTRIBUTES[name]](dice) for name in chosen}
    return _request(dice, "put_item", {"Item": item, "ReturnValues": dice.choice(("NONE", "ALL_OLD"))}, ())


def _delete(dice: random.Random) -> Request:
    return _request(dice, "delete_item", {"Key": _key(dice), "ReturnValues": dice.choice(("NONE", "ALL_OLD"))}, ())


def _update(dice: random.Random) -> Request:
    clauses = {"SET": SETTERS, "ADD": ADDERS, "DELETE": DELETERS, "REMOVE": REMOVERS}
    used = dice.sample(sorted(clauses), dice.choice((1, 1, 2, 4)))
    parts = [f"{verb} {', '.join(dice.sample(clauses[verb], dice.choice((1, 1, 1, 2))))}" for verb in used]
    returned = dice.choice(("NONE", "ALL_OLD", "ALL_NEW"))
    return _request(dice, "update_item", {"Key": _key(dice), "ReturnValues": returned}, tuple(parts))


def _request(dice: random.Random, operation: str, arguments: dict[str, Any], parts: tuple[str, ...]) -> Request:
    arguments |= {"TableName": dice.choice((JOBS, RUNS))}
    text = " ".join(parts)
    if parts:
        arguments["UpdateExpression"] = text
    if dice.random() < 0.5:
        arguments["ConditionExpression"] = _any_condition(dice)
        arguments["ReturnValuesOnConditionCheckFailure"] = dice.choice(("NONE", "ALL_OLD"))
        text += " " + arguments["ConditionExpression"]
    return Request(operation, arguments | _placeholders(dice, text))


def _any_condition(dice: random.Random) -> str:
    one, other = dice.sample(CONDITIONS, 2)
    shapes = (one, one, f"NOT {one}", f"{one} AND {other}", f"({one}) OR NOT ({other})", f"NOT ({one} OR {other})")
    return dice.choice(shapes)


def _placeholders(dice: random.Random, text: str) -> dict[str, Any]:
    words = {word.strip("(),") for word in text.replace("(", " ").replace(".", " ").replace("[", " ").split()}
    names = {word: "PK" if word == "#pk" else word[1:] for word in words if word.startswith("#")}
    values = {
        word: FIXED[word] if word in FIXED else VALUES[word](dice) for word in sorted(words) if word.startswith(":")
    }
    return ({"ExpressionAttributeNames": names} if names else {}) | (
        {"ExpressionAttributeValues": values} if values else {}
    )


def _get(dice: random.Random) -> Request:
    return Request("get_item", {"TableName": dice.choice((JOBS, RUNS)), "Key": _key(dice), "ConsistentRead": True})


def _batch(dice: random.Random) -> Request:
    keys = [_key(dice) for _ in range(dice.randint(1, 3))]
    return Request("batch_get_item", {"RequestItems": {JOBS: {"Keys": keys, "ConsistentRead": True}}})


def _query(dice: random.Random) -> Request:
    return _paged(dice, {"TableName": dice.choice((JOBS, RUNS))}, dice.choice(QUERIED))


def _indexed(dice: random.Random) -> Request:
    return _paged(dice, {"TableName": JOBS, "IndexName": "by_status"}, dice.choice(INDEXED))


def _paged(dice: random.Random, arguments: dict[str, Any], expression: str) -> Request:
    arguments |= {"KeyConditionExpression": expression, "ScanIndexForward": dice.random() < 0.5}
    if dice.random() < 0.3:
        arguments["Limit"] = dice.randint(1, 3)
    if dice.random() < 0.2:
        arguments["Select"] = "COUNT"
    return Request("query", arguments | _placeholders(dice, expression))
