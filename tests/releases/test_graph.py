"""The plan of a rebuild: all dependents, dependencies first, and no cycle."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runledger.releases import graph
from runledger.releases.graph import MOST_DEPENDENTS, Plan

Graph = Mapping[str, Mapping[str, str]]


def plan(edges: Graph, *, version: str = "1", not_rebuilt: frozenset[str] = frozenset()) -> Plan:
    return graph.plan(
        "base",
        dependents=lambda name: edges.get(name, {}),
        includes=lambda wanted: wanted in ("*", version),
        is_rebuilt=lambda name: name not in not_rebuilt,
    )


def test_dependents_are_in_order_with_what_they_wait_for() -> None:
    found = plan({"base": {"ui": "1", "app": "1"}, "ui": {"app": "9"}, "app": {"site": "9"}})
    assert [(step.name, step.depends_on) for step in found.steps] == [("ui", ()), ("app", ("ui",)), ("site", ("app",))]
    assert [step.wanted for step in found.steps] == ["1", "1", "9"]


def test_a_direct_dependent_outside_its_range_is_not_rebuilt() -> None:
    assert [step.name for step in plan({"base": {"old": "0", "new": "1"}, "old": {"site": "*"}}).steps] == ["new"]


def test_a_dependent_that_is_not_rebuilt_ends_its_branch() -> None:
    found = plan({"base": {"ui": "*"}, "ui": {"site": "*"}}, not_rebuilt=frozenset({"ui"}))
    assert [step.name for step in found.steps] == ["ui"]


@pytest.mark.parametrize(
    ("edges", "cycle"),
    [
        ({"base": {"a": "*"}, "a": {"b": "*"}, "b": {"c": "*"}, "c": {"a": "*"}}, "a → c → b → a"),
        ({"base": {"a": "*"}, "a": {"base": "*"}}, "a → base → a"),
        ({"base": {"base": "*"}}, "base → base"),
    ],
)
def test_a_cycle_is_refused_and_named(edges: Graph, cycle: str) -> None:
    found = plan(edges)
    assert found.steps == ()
    assert found.problem == f"The dependencies form a cycle: {cycle}"


def test_too_many_dependents_are_refused() -> None:
    most = {"base": {f"p{number}": "*" for number in range(MOST_DEPENDENTS)}}
    assert len(plan(most).steps) == MOST_DEPENDENTS
    found = plan({"base": {**most["base"], "one more": "*"}})
    assert found == Plan(problem="More than 100 packages depend on this package")


def test_too_many_dependencies_are_refused() -> None:
    names = [f"p{number:02}" for number in range(60)]
    edges = {"base": dict.fromkeys(names, "*")} | {
        name: dict.fromkeys(names[number + 1 :], "*") for number, name in enumerate(names)
    }
    assert plan(edges) == Plan(problem="More than 1000 dependencies lead to this package")


NAMES = [f"p{number}" for number in range(12)]
ACYCLIC = st.lists(
    st.tuples(st.integers(0, len(NAMES) - 1), st.integers(0, len(NAMES) - 1)).filter(lambda pair: pair[0] < pair[1])
)


@given(ACYCLIC, st.sets(st.sampled_from(NAMES), min_size=1))
def test_every_reachable_package_comes_once_after_all_it_depends_on(
    pairs: list[tuple[int, int]], direct: set[str]
) -> None:
    edges: dict[str, dict[str, str]] = {"base": dict.fromkeys(direct, "*")}
    for first, second in pairs:
        edges.setdefault(NAMES[first], {})[NAMES[second]] = "*"
    steps = plan(edges).steps
    assert {step.name for step in steps} == reachable(edges)
    done: set[str] = set()
    for step in steps:
        assert set(step.depends_on) <= done
        assert set(step.depends_on) == {
            name for name in {each.name for each in steps} if step.name in edges.get(name, {})
        }
        done.add(step.name)
    assert len(done) == len(steps)


@given(ACYCLIC, st.integers(0, len(NAMES) - 1), st.integers(0, len(NAMES) - 1))
def test_a_cycle_that_is_reachable_is_always_found(pairs: list[tuple[int, int]], first: int, second: int) -> None:
    low, high = sorted((first, second))
    edges: dict[str, dict[str, str]] = {"base": {NAMES[low]: "*"}}
    for one, other in [*pairs, *((number, number + 1) for number in range(low, high)), (high, low)]:
        edges.setdefault(NAMES[one], {})[NAMES[other]] = "*"
    found = plan(edges)
    assert found.steps == ()
    assert found.problem
    assert "cycle" in found.problem


def reachable(edges: Graph) -> set[str]:
    found: set[str] = set()
    left = list(edges["base"])
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left.extend(edges.get(name, ()))
    return found
