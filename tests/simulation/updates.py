"""Update expressions: every operand is read from the item as it was, then all changes are made at once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Context, Decimal
from functools import cache

from tests.simulation import paths
from tests.simulation.paths import Names, Path, Read
from tests.simulation.tokens import Tokens
from tests.simulation.values import DIGITS, SETS, Rejected, Value, Values, kind_of, merged, plain

CLAUSES = ("SET", "REMOVE", "ADD", "DELETE")
PRECISE = Context(prec=DIGITS)


@dataclass(slots=True)
class Update:
    sets: list[tuple[Path, Read]] = field(default_factory=list)
    removed: list[Path] = field(default_factory=list)
    added: list[tuple[Path, str]] = field(default_factory=list)
    deleted: list[tuple[Path, str]] = field(default_factory=list)
    names: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()

    def targets(self, names: Names) -> list[Path]:
        written = (*self.sets, *self.added, *self.deleted)
        return [paths.resolved(path, names) for path in (*(path for path, _ in written), *self.removed)]

    def apply(self, item: Values, names: Names, values: Values) -> dict[str, Value]:
        changed = dict(item)
        assigned = [(paths.resolved(path, names), _found(read(item, names, values))) for path, read in self.sets]
        for path, name in self.added:
            target = paths.resolved(path, names)
            assigned.append((target, _sum(paths.find(item, target), values[name])))
        for target, value in assigned:
            paths.assign(changed, target, value)
        for path, name in self.deleted:
            target = paths.resolved(path, names)
            if rest := _difference(paths.find(item, target), values[name]):
                paths.assign(changed, target, rest)
            else:
                paths.remove(changed, target)
        # From the end of a list, so that no removal moves the target of another one.
        for path in sorted((paths.resolved(path, names) for path in self.removed), key=_place, reverse=True):
            paths.remove(changed, path)
        return changed


def _place(path: Path) -> int:
    return path[-1] if isinstance(path[-1], int) else -1


@cache
def update(text: str) -> Update:
    tokens = Tokens("UpdateExpression", text)
    made, clauses = Update(), set()
    while tokens.next:
        clause = tokens.word
        if clause not in CLAUSES or clause in clauses:
            raise tokens.error()
        clauses.add(clause)
        tokens.take()
        _PARSERS[clause](tokens, made)
        while tokens.accept(","):
            _PARSERS[clause](tokens, made)
    made.names, made.values = frozenset(tokens.names), frozenset(tokens.values)
    return made


def _set(tokens: Tokens, made: Update) -> None:
    path = paths.parse(tokens)
    tokens.expect("=")
    value = _operand(tokens)
    if tokens.accept("+"):
        value = _arithmetic(value, _operand(tokens), 1)
    elif tokens.accept("-"):
        value = _arithmetic(value, _operand(tokens), -1)
    made.sets.append((path, value))


def _remove(tokens: Tokens, made: Update) -> None:
    made.removed.append(paths.parse(tokens))


def _add(tokens: Tokens, made: Update) -> None:
    made.added.append((paths.parse(tokens), tokens.value()))


def _delete(tokens: Tokens, made: Update) -> None:
    made.deleted.append((paths.parse(tokens), tokens.value()))


_PARSERS: dict[str, Callable[[Tokens, Update], None]] = {
    "SET": _set,
    "REMOVE": _remove,
    "ADD": _add,
    "DELETE": _delete,
}


def _operand(tokens: Tokens) -> Read:
    if tokens.next.startswith(":"):
        name = tokens.value()
        return lambda _item, _names, values: values[name]
    if not tokens.calls:
        return paths.reader(paths.parse(tokens))
    function = tokens.take()
    if function not in ("if_not_exists", "list_append"):
        raise Rejected(f"Invalid UpdateExpression: Invalid function name; function: {function}")
    tokens.expect("(")
    left = paths.reader(paths.parse(tokens)) if function == "if_not_exists" else _operand(tokens)
    tokens.expect(",")
    right = _operand(tokens)
    tokens.expect(")")
    return _either(left, right) if function == "if_not_exists" else _appended(left, right)


def _either(present: Read, otherwise: Read) -> Read:
    def read(item: Values, names: Names, values: Values) -> Value | None:
        value = present(item, names, values)
        return value if value is not None else otherwise(item, names, values)

    return read


def _appended(left: Read, right: Read) -> Read:
    def read(item: Values, names: Names, values: Values) -> Value:
        one, other = _found(left(item, names, values)), _found(right(item, names, values))
        if "L" not in one or "L" not in other:
            raise Rejected("An operand in the update expression has an incorrect data type")
        return {"L": [*one["L"], *other["L"]]}

    return read


def _arithmetic(left: Read, right: Read, sign: int) -> Read:
    def read(item: Values, names: Names, values: Values) -> Value:
        one, other = _found(left(item, names, values)), _found(right(item, names, values))
        if "N" not in one or "N" not in other:
            raise Rejected("An operand in the update expression has an incorrect data type")
        return {"N": plain(PRECISE.add(Decimal(one["N"]), sign * Decimal(other["N"])))}

    return read


def _found(value: Value | None) -> Value:
    if value is None:
        raise Rejected("The provided expression refers to an attribute that does not exist in the item")
    return value


def _sum(before: Value | None, change: Value) -> Value:
    kind = kind_of(change)
    if kind != "N" and kind not in SETS:
        raise Rejected(f"Invalid UpdateExpression: Incorrect operand type for operator or function; ADD, {kind}")
    if before is None:
        return change
    if kind not in before:
        raise Rejected("An operand in the update expression has an incorrect data type")
    if kind == "N":
        return {"N": plain(PRECISE.add(Decimal(before["N"]), Decimal(change["N"])))}
    return merged(kind, before[kind], change[kind])


def _difference(before: Value | None, change: Value) -> Value | None:
    kind = kind_of(change)
    if kind not in SETS:
        raise Rejected(f"Invalid UpdateExpression: Incorrect operand type for operator or function; DELETE, {kind}")
    if before is None:
        return None
    if kind not in before:
        raise Rejected("An operand in the update expression has an incorrect data type")
    rest = [each for each in before[kind] if each not in change[kind]]
    return {kind: rest} if rest else None
