"""What a world consists of, drawn from its seed: each part can be left out without changing the others.

That is what the shrinker does with a world that violates an invariant.
"""

import random
from dataclasses import dataclass, replace

from tests.simulation.calls import Fault
from tests.simulation.choices import seeded
from tests.simulation.reconciler import troubles
from tests.simulation.reconciler.lives import REPOSITORIES
from tests.simulation.reconciler.troubles import MINUTE, Troubles
from tests.simulation.reconciler.world import START

QUICK_SECONDS = 5 * MINUTE
KINDS = (
    Fault.THROTTLED,
    Fault.REFUSED,
    Fault.UNREACHABLE,
    Fault.RESPONSE_LOST,
    Fault.SENT_TWICE,
    Fault.KILLED_BEFORE,
    Fault.KILLED_AFTER,
)
# By function, the number of calls among which a fault is drawn. A pass makes more, and may have several faults.
CALLS = {"reconciler": 60, "api": 3, "run_retry": 9}
MOST_CALLS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    name: str
    troubles: Troubles
    parts: tuple[str, ...]
    """A kind and a number, such as `run 2` or `pass 14`."""
    disturbed: float = 0
    """The share of invocations with a fault."""
    calm: frozenset[str] = frozenset()
    """Invocations whose fault is left out."""

    @property
    def silent_at(self) -> float:
        return self.troubles.silent_at

    def dice(self, about: str) -> random.Random:
        return seeded(f"{self.name} {about}")

    def faults(self, function: str, invocation: str) -> dict[int, Fault]:
        """The faults, by number of the call."""
        dice = self.dice(invocation)
        if invocation in self.calm or dice.random() >= self.disturbed:
            return {}
        several = dice.randint(1, 3) if function == "reconciler" else 1
        calls = CALLS.get(function, MOST_CALLS)
        return {dice.randint(1, calls): dice.choice(KINDS) for _ in range(several)}

    def without(self, *parts: str) -> "Plan":
        return replace(self, parts=tuple(each for each in self.parts if each not in parts))


def draw(seed: int, number: int) -> Plan:
    name = f"seed {seed}, world {number}"
    dice = seeded(f"system {name}")
    silent_at = START + dice.choice((30, 45, 60)) * MINUTE
    repositories = [each for names in REPOSITORIES.values() for each in names]
    trouble = troubles.draw(dice, name, start=START, silent_at=silent_at, repositories=repositories)
    numbers = {
        "run": dice.randint(1, 3),
        "spare": dice.choice((0, 1, 2)),
        "prank": dice.choice((0, 1)),
        "suspension": dice.choice((0, 0, 0, 1)),
        "uninstallation": int(dice.random() < 0.05),
        "hook": dice.choice((0, 0, 0, 1)),
        "person": dice.choice((1, 2)),
        "replay": dice.choice((0, 0, 1, 3)),
    }
    parts = [f"{kind} {1 + each}" for kind, number in numbers.items() for each in range(number)]
    ticks = int((silent_at - START) / QUICK_SECONDS)
    parts += [f"pass {tick}" for tick in range(ticks) if dice.random() < 0.6]
    return Plan(name=name, troubles=trouble, parts=tuple(parts), disturbed=dice.choice((0.0, 0.05, 0.15, 0.3)))
