"""Document paths: `a`, `#name`, `map.key`, `list[0]`. Paths are kept as written and resolved with each call's names."""

from collections.abc import Callable, Mapping
from functools import cache

from tests.simulation.tokens import Tokens
from tests.simulation.values import Rejected, Value, Values

Path = tuple[str | int, ...]
Names = Mapping[str, str]
Read = Callable[[Values, Names, Values], Value | None]
"""Of an item, with the call's names and values: a value, or None where it is absent."""


def parse(tokens: Tokens) -> Path:
    path: list[str | int] = [tokens.name()]
    while True:
        if tokens.accept("."):
            path.append(tokens.name())
        elif tokens.accept("["):
            if not tokens.next.isdecimal():
                raise tokens.error()
            path.append(int(tokens.take()))
            tokens.expect("]")
        else:
            return tuple(path)


def resolved(path: Path, names: Names) -> Path:
    if len(path) == 1:
        return (names[path[0]],) if path[0] in names else path  # type: ignore[index]
    return tuple(names[part] if isinstance(part, str) and part[0] == "#" else part for part in path)


def reader(path: Path) -> Read:
    if len(path) > 1:
        return lambda item, names, _: find(item, resolved(path, names))
    (name,) = path
    assert isinstance(name, str)
    if name.startswith("#"):
        return lambda item, names, _: item.get(names[name])
    return lambda item, _names, _values: item.get(name)


def find(item: Values, path: Path) -> Value | None:
    value: Value | None = item.get(str(path[0]))
    for part in path[1:]:
        if value is None:
            return None
        if isinstance(part, int):
            elements = value.get("L", ())
            value = elements[part] if part < len(elements) else None
        else:
            value = value.get("M", {}).get(part)
    return value


def assign(item: dict[str, Value], path: Path, value: Value) -> None:
    """Set the value in `item` itself. Parents of the value are copied: other versions of the item share them."""
    if len(path) == 1:
        item[str(path[0])] = value
        return
    holder, part = _holder(item, path), path[-1]
    if isinstance(part, int) and "L" in holder:
        holder["L"][part : part + 1] = [value]
    elif isinstance(part, str) and "M" in holder:
        holder["M"][part] = value
    else:
        raise Rejected("The document path provided in the update expression is invalid for update")


def remove(item: dict[str, Value], path: Path) -> None:
    if len(path) == 1:
        item.pop(str(path[0]), None)
        return
    holder, part = _holder(item, path), path[-1]
    if isinstance(part, int) and "L" in holder:
        del holder["L"][part : part + 1]
    elif isinstance(part, str) and "M" in holder:
        holder["M"].pop(part, None)
    else:
        raise Rejected("The document path provided in the update expression is invalid for update")


def _holder(item: dict[str, Value], path: Path) -> Value:
    """A copy of the map or list that holds the last part, put in its place."""
    parent = find(item, path[:-1])
    if parent is None:
        raise Rejected("The document path provided in the update expression is invalid for update")
    ((kind, raw),) = parent.items()
    holder = {kind: raw.copy() if kind in ("M", "L") else raw}
    assign(item, path[:-1], holder)
    return holder


def check_overlap(kind: str, paths: list[Path]) -> None:
    if len(set(paths)) == len(paths) and all(len(path) == 1 for path in paths):
        return
    for number, one in enumerate(paths):
        for other in paths[number + 1 :]:
            shared = min(len(one), len(other))
            if one[:shared] == other[:shared]:
                raise Rejected(f"Invalid {kind}: Two document paths overlap with each other;")


@cache
def projection(text: str) -> tuple[tuple[Path, ...], frozenset[str]]:
    tokens = Tokens("ProjectionExpression", text)
    paths = [parse(tokens)]
    while tokens.accept(","):
        paths.append(parse(tokens))
    tokens.end()
    return tuple(paths), frozenset(tokens.names)


def project(item: Values, paths: tuple[Path, ...], names: Names) -> dict[str, Value]:
    """Only top-level attributes: no caller needs parts of a document."""
    wanted = [resolved(path, names) for path in paths]
    check_overlap("ProjectionExpression", wanted)
    if any(len(path) > 1 for path in wanted):
        raise NotImplementedError("projections of nested paths")
    return {name: item[name] for name in (str(path[0]) for path in wanted) if name in item}
