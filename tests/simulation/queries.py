"""Queries of a table or one of its indexes: the key condition, the order, and pages."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from runledger.tables import schema

from tests.simulation.conditions import ORDERED
from tests.simulation.paths import Names
from tests.simulation.storage import Storage
from tests.simulation.tokens import Tokens
from tests.simulation.values import Item, Rejected, Value, Values

LARGEST_PAGE = 1_048_576
KIND = "KeyConditionExpression"


@dataclass(frozen=True, slots=True)
class Term:
    name: str
    operator: str
    operands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeyCondition:
    terms: tuple[Term, ...]
    names: frozenset[str]
    values: frozenset[str]

    def split(self, partition: str, sort: str, names: Names) -> tuple[Term, Term | None]:
        """The term on the partition key, and the one on the sort key if there is one."""
        by_name = {names.get(term.name, term.name): term for term in self.terms}
        on_partition, on_sort = by_name.pop(partition, None), by_name.pop(sort, None)
        if on_partition is None or on_partition.operator != "=":
            raise Rejected("Query condition missed key schema element or is not an equality: " + partition)
        if by_name or len(self.terms) > 1 + (on_sort is not None):
            raise Rejected("Query key condition not supported")
        return on_partition, on_sort


@cache
def key_condition(text: str) -> KeyCondition:
    tokens = Tokens(KIND, text)
    terms = [_term(tokens)]
    while tokens.accept("AND"):
        terms.append(_term(tokens))
    tokens.end()
    return KeyCondition(tuple(terms), frozenset(tokens.names), frozenset(tokens.values))


def _term(tokens: Tokens) -> Term:
    if tokens.accept("("):
        term = _term(tokens)
        tokens.expect(")")
        return term
    if tokens.next == "begins_with" and tokens.calls:
        tokens.take()
        tokens.expect("(")
        name = tokens.name()
        tokens.expect(",")
        prefix = tokens.value()
        tokens.expect(")")
        return Term(name, "begins_with", (prefix,))
    name = tokens.name()
    if tokens.accept("BETWEEN"):
        low = tokens.value()
        tokens.expect("AND")
        return Term(name, "BETWEEN", (low, tokens.value()))
    operator = tokens.take()
    if operator != "=" and operator not in ORDERED:
        raise Rejected(f"Invalid {KIND}: Invalid operator used in {KIND}: {operator}")
    return Term(name, operator, (tokens.value(),))


def _operands(term: Term, values: Values) -> list[Value]:
    operands = [values[name] for name in term.operands]
    if any("S" not in operand for operand in operands):
        raise Rejected("One or more parameter values were invalid: Condition parameter type does not match schema type")
    return operands


def _holds(term: Term | None, values: Values) -> Callable[[Value], bool]:
    if term is None:
        return lambda _: True
    operands = _operands(term, values)
    first = operands[0]
    if term.operator == "=":
        return lambda value: value == first
    if term.operator == "begins_with":
        return lambda value: value["S"].startswith(first["S"])
    if term.operator == "BETWEEN":
        low, high = first["S"], operands[1]["S"]
        if low > high:
            raise Rejected(f"Invalid {KIND}: The BETWEEN operator requires upper bound to be greater than lower bound")
        return lambda value: low <= value["S"] <= high
    compare = ORDERED[term.operator]
    return lambda value: compare(value, first)


@dataclass(frozen=True, slots=True)
class Source:
    """The table itself, or an index of it."""

    table: schema.TableSchema
    index: schema.Index | None

    @property
    def keys(self) -> tuple[str, str]:
        return (self.index.partition, self.index.sort) if self.index else (schema.PARTITION, schema.SORT)

    @property
    def whole_key(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.keys, schema.PARTITION, schema.SORT)))

    def matching(
        self, storage: Storage, lag: int, condition: KeyCondition, names: Names, values: Values
    ) -> Sequence[Item]:
        """Items in ascending order. The table's key orders ties in an index, where DynamoDB promises no order."""
        partition, sort = self.keys
        on_partition, on_sort = condition.split(partition, sort, names)
        (here,), is_within = _operands(on_partition, values), _holds(on_sort, values)

        def in_order() -> list[Item]:
            items = storage.seen(self.table.name, lag).values()
            return sorted((item for item in items if item.get(partition) == here and sort in item), key=self.place)

        where = (*self.keys, here["S"])
        found = in_order() if lag else storage.until_written(self.table.name, where, in_order)
        return found if on_sort is None else [item for item in found if is_within(item[sort])]

    def place(self, values: Values) -> tuple[str, ...]:
        sort = self.index.sort if self.index else schema.SORT
        return (values[sort]["S"], values[schema.PARTITION]["S"], values[schema.SORT]["S"])

    def projected(self, item: Item) -> Mapping[str, Value]:
        if self.index is None:
            return item
        names = {*self.whole_key, *self.index.include}
        return {name: value for name, value in item.items() if name in names}


def source(table: schema.TableSchema, index_name: str | None) -> Source:
    if index_name is None:
        return Source(table, None)
    for index in table.indexes:
        if index.name == index_name:
            return Source(table, index)
    raise Rejected(f"The table does not have the specified index: {index_name}")


def page(
    found: Sequence[Item], of: Source, *, start: Values | None, forward: bool, limit: int | None
) -> tuple[Sequence[Item], dict[str, Any] | None]:
    """Items after `start`, up to `limit` or a megabyte, and the key at which the page ended early."""
    if start is not None:
        if {*start} != {*of.whole_key}:
            raise Rejected("The provided starting key is invalid")
        at = of.place(start)
        found = (
            found[bisect_right(found, at, key=of.place) :] if forward else found[: bisect_left(found, at, key=of.place)]
        )
    ordered = found if forward else found[::-1]
    if limit is not None and limit < 1:
        raise Rejected("1 validation error detected: Value at 'limit' must be greater than or equal to 1")
    size = 0
    for number, item in enumerate(ordered, start=1):
        size += item.size
        if number == limit or (size > LARGEST_PAGE and number < len(ordered)):
            return ordered[:number], {name: item[name] for name in of.whole_key}
    return ordered, None
