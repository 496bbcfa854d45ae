"""The order in which the dependents of a package are rebuilt. Pure.

A direct dependent is rebuilt if its range includes the new version. Dependents of a rebuilt package are always rebuilt,
because the version that the rebuild will publish isn't known yet.
"""

from collections.abc import Callable, Mapping
from graphlib import CycleError, TopologicalSorter

from runledger.model.dataclass import dataclass

MOST_DEPENDENTS = 100
MOST_EDGES = 1000

Dependents = Callable[[str], Mapping[str, str]]


class TooManyDependents(Exception):
    """A single package has more dependents than are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """`wanted` is its version range for the dependency that triggered the rebuild."""

    name: str
    wanted: str
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """If there is a `problem`, nothing is rebuilt."""

    steps: tuple[Step, ...] = ()
    problem: str | None = None


def plan(
    package: str, *, dependents: Dependents, includes: Callable[[str], bool], is_rebuilt: Callable[[str], bool]
) -> Plan:
    """`includes(range)` returns whether the range includes the new version. The dependents of a package that isn't
    rebuilt aren't rebuilt either.
    """
    wanted: dict[str, str] = {}
    depends_on: dict[str, set[str]] = {package: set()}
    edges, pending = 0, [package]
    while pending:
        changed = pending.pop(0)
        try:
            found = dependents(changed)
        except TooManyDependents:
            return Plan(problem=_too_many(MOST_EDGES))
        for name, accepted in sorted(found.items()):
            if changed == package and not includes(accepted):
                continue
            edges += 1
            if name not in depends_on:
                depends_on[name], wanted[name] = set(), accepted
                if is_rebuilt(name):
                    pending.append(name)
            depends_on[name].add(changed)
            if len(wanted) > MOST_DEPENDENTS or edges > MOST_EDGES:
                return Plan(problem=_too_many(len(wanted)))
    try:
        order = list(TopologicalSorter({name: sorted(depends_on[name]) for name in sorted(depends_on)}).static_order())
    except CycleError as error:
        return Plan(problem=f"The dependencies form a cycle: {' → '.join(_from_smallest(error.args[1]))}")
    return Plan(
        steps=tuple(
            Step(name=name, wanted=wanted[name], depends_on=tuple(sorted(depends_on[name] - {package})))
            for name in order
            if name != package
        )
    )


def _too_many(dependents: int) -> str:
    if dependents > MOST_DEPENDENTS:
        return f"More than {MOST_DEPENDENTS} packages depend on this package"
    return f"More than {MOST_EDGES} dependencies lead to this package"


def _from_smallest(cycle: list[str]) -> list[str]:
    """The same text for the same cycle: begins with the smallest name, and each package depends on the next."""
    members = cycle[:-1][::-1]
    first = members.index(min(members))
    turned = members[first:] + members[:first]
    return [*turned, turned[0]]
