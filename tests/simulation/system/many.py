"""Many worlds of the whole system, on all processors: `make simulate SECONDS=600`, or `KIND=system WORLDS=5000`."""

import itertools
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial

from tests.simulation.system.plan import draw
from tests.simulation.system.random_systems import Played, play, system_world
from tests.simulation.system.shrink import shrink

SLICE = 20


def main(seed: int, *, worlds: int | None, seconds: float, world: int | None) -> int:
    if world is not None:
        played = play(draw(seed, world))
        print(*played.story, sep="\n")
        return report(played) if played.violations else 0
    return simulate(seed, worlds=worlds, seconds=seconds)


def simulate(seed: int, *, worlds: int | None, seconds: float, processes: int | None = None) -> int:
    """Play `worlds` until the first violation, or for `seconds` if no number is given."""
    until = time.monotonic() + seconds
    counts: Counter[str] = Counter()
    number = steps = faults = 0
    wrong = None
    for played in _played(seed, worlds, processes or os.cpu_count() or 1):
        number, steps, faults = number + 1, steps + played.steps, faults + played.faults
        counts.update(played.counts)
        wrong = played if played.violations else None
        if wrong or (worlds is None and time.monotonic() > until):
            break
    violations = len(wrong.violations) if wrong else 0
    print(f"seed {seed}: {number:,} worlds of the system, {steps:,} steps, {faults:,} faults, {violations} violations")
    print(*(f"  {name}: {count:,}" for name, count in sorted(counts.items())), sep="\n")
    return report(wrong) if wrong else 0


def _played(seed: int, worlds: int | None, processes: int) -> Iterator[Played]:
    numbers = iter(itertools.count() if worlds is None else range(worlds))
    if processes == 1:
        yield from map(partial(system_world, seed), numbers)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        # In slices, because a pool takes all that an endless iterator has.
        while some := list(itertools.islice(numbers, SLICE * processes)):
            yield from pool.imap(partial(system_world, seed), some)


def report(wrong: Played) -> int:
    """The report of a violation, with the shortest story that still violates the same rule."""
    shortest = shrink(wrong)
    print(*shortest.story, sep="\n")
    print(f"\n{wrong.name} is wrong:", *wrong.violations, sep="\n  ")
    print(f"\nThe story above is its shortest, with {len(shortest.plan.parts)} parts: {', '.join(shortest.plan.parts)}")
    seed, world = (part.split()[1] for part in wrong.name.split(", "))
    print(f"To play it again: python -m tests.simulation --kind system --seed {seed} --world {world}")
    return 1
