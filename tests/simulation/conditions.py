"""Condition and filter expressions, each compiled once into functions of an item and the call's names and values."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tests.simulation import paths
from tests.simulation.paths import Names, Read
from tests.simulation.tokens import Tokens
from tests.simulation.values import SCALARS, SETS, Rejected, Value, Values, kind_of, order

Test = Callable[[Values, Names, Values], bool]

ORDERED: dict[str, Callable[[Value, Value], bool]] = {
    "<": lambda left, right: bool(order(left) < order(right)),
    "<=": lambda left, right: bool(order(left) <= order(right)),
    ">": lambda left, right: bool(order(left) > order(right)),
    ">=": lambda left, right: bool(order(left) >= order(right)),
}


@dataclass(frozen=True, slots=True)
class Condition:
    holds: Test
    names: frozenset[str]
    values: frozenset[str]


@cache
def condition(text: str, kind: str = "ConditionExpression") -> Condition:
    tokens = Tokens(kind, text)
    test = _either(tokens)
    tokens.end()
    return Condition(test, frozenset(tokens.names), frozenset(tokens.values))


def _either(tokens: Tokens) -> Test:
    test = _both(tokens)
    while tokens.accept("OR"):
        test = _or(test, _both(tokens))
    return test


def _or(left: Test, right: Test) -> Test:
    return lambda item, names, values: left(item, names, values) or right(item, names, values)


def _both(tokens: Tokens) -> Test:
    test = _negated(tokens)
    while tokens.accept("AND"):
        test = _and(test, _negated(tokens))
    return test


def _and(left: Test, right: Test) -> Test:
    return lambda item, names, values: left(item, names, values) and right(item, names, values)


def _negated(tokens: Tokens) -> Test:
    if tokens.accept("NOT"):
        test = _negated(tokens)
        return lambda item, names, values: not test(item, names, values)
    if tokens.accept("("):
        test = _either(tokens)
        tokens.expect(")")
        return test
    if tokens.calls and tokens.next != "size":
        return _function(tokens)
    return _comparison(tokens)


def _function(tokens: Tokens) -> Test:
    function = tokens.take()
    tokens.expect("(")
    subject = paths.reader(paths.parse(tokens)) if not tokens.next.startswith(":") else _operand(tokens)
    if function in ("attribute_exists", "attribute_not_exists"):
        tokens.expect(")")
        if function == "attribute_exists":
            return lambda item, names, values: subject(item, names, values) is not None
        return lambda item, names, values: subject(item, names, values) is None
    tests = {"begins_with": _begins, "contains": _contains, "attribute_type": _is_of_type}
    if function not in tests:
        raise Rejected(f"Invalid {tokens.kind}: Invalid function name; function: {function}")
    tokens.expect(",")
    argument, test = _operand(tokens), tests[function]
    tokens.expect(")")

    def holds(item: Values, names: Names, values: Values) -> bool:
        left, right = subject(item, names, values), argument(item, names, values)
        return left is not None and right is not None and test(left, right)

    return holds


def _begins(value: Value, prefix: Value) -> bool:
    kind = kind_of(prefix)
    if kind not in ("S", "B"):
        raise Rejected("Invalid ConditionExpression: Incorrect operand type for operator or function; begins_with")
    return kind in value and value[kind].startswith(prefix[kind])


def _contains(value: Value, wanted: Value) -> bool:
    ((kind, raw),) = value.items()
    of = kind_of(wanted)
    if kind == "L":
        return wanted in raw
    return (kind == of and kind in ("S", "B") and wanted[of] in raw) or (SETS.get(kind) == of and wanted[of] in raw)


def _is_of_type(value: Value, named: Value) -> bool:
    return named.get("S") in value


def _comparison(tokens: Tokens) -> Test:
    left = _operand(tokens)
    if tokens.accept("IN"):
        return _among(left, _list(tokens))
    if tokens.accept("BETWEEN"):
        low = _operand(tokens)
        tokens.expect("AND")
        return _and(_ordered("<=", low, left), _ordered("<=", left, _operand(tokens)))
    operator = tokens.take()
    if operator in ORDERED:
        return _ordered(operator, left, _operand(tokens))
    if operator not in ("=", "<>"):
        raise tokens.error()
    right = _operand(tokens)

    def equal(item: Values, names: Names, values: Values) -> bool:
        one = left(item, names, values)
        return one is not None and one == right(item, names, values)

    return equal if operator == "=" else lambda item, names, values: not equal(item, names, values)


def _list(tokens: Tokens) -> list[Read]:
    tokens.expect("(")
    listed = [_operand(tokens)]
    while tokens.accept(","):
        listed.append(_operand(tokens))
    tokens.expect(")")
    return listed


def _among(left: Read, listed: list[Read]) -> Test:
    def holds(item: Values, names: Names, values: Values) -> bool:
        value = left(item, names, values)
        return value is not None and any(value == each(item, names, values) for each in listed)

    return holds


def _ordered(operator: str, left: Read, right: Read) -> Test:
    compare = ORDERED[operator]

    def holds(item: Values, names: Names, values: Values) -> bool:
        one, other = left(item, names, values), right(item, names, values)
        if one is None or other is None:
            return False
        kind = kind_of(one)
        return kind in SCALARS and kind in other and compare(one, other)

    return holds


def _operand(tokens: Tokens) -> Read:
    if tokens.next.startswith(":"):
        name = tokens.value()
        return lambda _item, _names, values: values[name]
    if tokens.next == "size" and tokens.calls:
        tokens.take()
        tokens.expect("(")
        measured = paths.reader(paths.parse(tokens))
        tokens.expect(")")
        return lambda item, names, values: _size(measured(item, names, values))
    return paths.reader(paths.parse(tokens))


def _size(value: Value | None) -> Value | None:
    if value is None:
        return None
    ((kind, raw),) = value.items()
    if kind in ("N", "BOOL", "NULL"):
        return None  # without a size, every comparison is false
    return {"N": str(len(raw))}
