"""Evaluates the part of CloudWatch Logs Insights' language that saved queries of figures use.

A query is `filter ispresent(field) | stats … by … | sort … | limit …`. Anything else raises an error, so that a test
never passes because a part of its query was skipped.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

Line = dict[str, Any]
Values = Sequence[Any]

EXPRESSION = re.compile(r"(?P<name>\w+)\((?P<field>\*|\w+)(, (?P<rank>\d+))?\)( (?P<sign>[*/]) (?P<factor>\d+))?")
AGGREGATES: dict[str, Callable[[Values, int], float]] = {
    "count": lambda values, _: len(values),
    "count_distinct": lambda values, _: len(set(values)),
    "sum": lambda values, _: sum(values),
    "avg": lambda values, _: sum(values) / len(values),
    "pct": lambda values, rank: sorted(values)[math.ceil(rank / 100 * len(values)) - 1],
}


def run(query: str, lines: Sequence[Line]) -> list[Line]:
    """The rows of the result. A field that no line of a group has is absent from its row."""
    rows = list(lines)
    for command in " ".join(query.split()).split(" | "):
        name, _, rest = command.partition(" ")
        rows = COMMANDS[name](rest, rows)
    return rows


def _filter(condition: str, lines: list[Line]) -> list[Line]:
    matched = re.fullmatch(r"ispresent\((\w+)\)", condition)
    assert matched, condition
    return [line for line in lines if matched[1] in line]


def _stats(text: str, lines: list[Line]) -> list[Line]:
    columns, _, by = text.rpartition(" by ")
    names = by.split(", ")
    groups: defaultdict[tuple[Any, ...], list[Line]] = defaultdict(list)
    for line in lines:
        groups[tuple(line.get(name) for name in names)].append(line)
    return [
        {name: value for name, value in zip(names, key, strict=True) if value is not None} | _row(columns, group)
        for key, group in groups.items()
    ]


def _row(columns: str, group: list[Line]) -> Line:
    found = {}
    for column in re.split(r", (?![\d])", columns):
        expression, _, alias = column.rpartition(" as ")
        parts = EXPRESSION.fullmatch(expression)
        assert parts, expression
        field = parts["field"]
        values = [line.get(field) for line in group if field == "*" or field in line]
        if values or parts["name"] == "count":
            value = AGGREGATES[parts["name"]](values, int(parts["rank"] or 0))
            factor = int(parts["factor"] or 1)
            found[alias] = value / factor if parts["sign"] == "/" else value * factor
    return found


def _sort(text: str, rows: list[Line]) -> list[Line]:
    name, order = text.split(" ")
    return sorted(rows, key=lambda row: row.get(name, 0), reverse=order == "desc")


def _limit(text: str, rows: list[Line]) -> list[Line]:
    return rows[: int(text)]


COMMANDS: dict[str, Callable[[str, list[Line]], list[Line]]] = {
    "filter": _filter,
    "stats": _stats,
    "sort": _sort,
    "limit": _limit,
}
