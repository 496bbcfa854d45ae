"""The shortest story of a violation: leaves out parts, troubles and faults of a world as long as it stays wrong."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.simulation.reconciler.troubles import Troubles
from tests.simulation.system.plan import Plan
from tests.simulation.system.random_systems import Played, play

SHARES = (
    *("never_sent", "failed", "late", "doubled", "events_lost", "skipped", "killed", "aws", "github"),
    *("windows", "down"),
)
MOST_REPLAYS = 150


def shrink(wrong: Played, *, most_replays: int = MOST_REPLAYS) -> Played:
    """The violation stays of the same kind; names and numbers may differ."""
    kind, shortest, replays = _kind(wrong), wrong, 0
    smaller = True
    while smaller and replays < most_replays:
        smaller = False
        for attempt in _attempts(shortest):
            if replays >= most_replays:
                break
            replays += 1
            played = play(attempt)
            if played.violations and _kind(played) == kind:
                shortest, smaller = played, True
                break
    return shortest


def _attempts(played: Played) -> Iterator[Plan]:
    """Large steps first."""
    plan = played.plan
    for chosen in (_kind_is("pass"), _kind_is("replay"), _kind_is("person")):
        if (parts := [each for each in plan.parts if chosen(each)]) and len(parts) > 1:
            yield plan.without(*parts)
    for part in plan.parts:
        yield plan.without(part)
    for name in SHARES:
        if value := getattr(plan.troubles, name):
            yield replace(plan, troubles=_without(plan.troubles, name, value))
    if plan.disturbed:
        yield replace(plan, disturbed=0.0)
        for name in played.disturbed:
            yield replace(plan, calm=plan.calm | {name})


def _without(troubles: Troubles, name: str, value: object) -> Troubles:
    nothing: dict[str, Any] = {name: () if isinstance(value, tuple) else 0.0}
    return replace(troubles, **nothing)


def _kind_is(kind: str) -> Callable[[str], bool]:
    return lambda part: part.partition(" ")[0] == kind


def _kind(played: Played) -> str:
    """The first violation without the names and times in it."""
    return re.sub(r"[\w:#./-]*\d[\w:#./-]*", "…", played.violations[0])[:60]
