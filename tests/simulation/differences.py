"""A readable list of the differences between two sets of tables."""

from collections.abc import Iterator, Mapping

from runledger.tables.attributes import from_attributes

from tests.simulation.storage import Items

Tables = Mapping[str, Items]
Ignored = Mapping[str, frozenset[str]]
"""Attributes by table."""

NOTHING: Ignored = {}


def differences(expected: Tables, actual: Tables, ignoring: Ignored = NOTHING) -> list[str]:
    if expected == actual:
        return []
    return [
        line
        for table in expected
        if expected[table] != actual[table]
        for line in _in_table(table, expected[table], actual[table], ignoring.get(table, frozenset()))
    ]


def _in_table(table: str, expected: Items, actual: Items, ignored: frozenset[str]) -> Iterator[str]:
    for key in sorted(expected.keys() | actual.keys()):
        name = f"{table} {' / '.join(key)}"
        if key not in actual:
            yield f"{name}: missing"
        elif key not in expected:
            yield f"{name}: unexpected {from_attributes(actual[key])}"
        elif expected[key] != actual[key]:
            was, becomes = from_attributes(expected[key]), from_attributes(actual[key])
            for attribute in sorted((was.keys() | becomes.keys()) - ignored):
                if was.get(attribute) != becomes.get(attribute):
                    yield f"{name}: {attribute} is {becomes.get(attribute)!r}, expected {was.get(attribute)!r}"
