"""Many worlds of the reconciler, on all processors: `make simulate KIND=reconciler WORLDS=5000`."""

import itertools
import multiprocessing
import os
import time
from collections.abc import Iterator
from functools import partial

from tests.simulation.reconciler.random_reconciliations import Reconciled, reconcile_world

TOTALS = ("passes", "calls", "stops", "requests", "healed")


def main(seed: int, *, worlds: int | None, seconds: float, world: int | None) -> int:
    if world is not None:
        played = reconcile_world(seed, world)
        print(*played.story, sep="\n")
        return report(played) if played.violations else 0
    return simulate(seed, worlds=worlds, seconds=seconds)


def simulate(seed: int, *, worlds: int | None, seconds: float, processes: int | None = None) -> int:
    """Play `worlds` until the first violation, or for `seconds` if no number is given."""
    until = time.monotonic() + seconds
    totals, number, wrong = dict.fromkeys(TOTALS, 0), 0, None
    for played in _played(seed, worlds, processes or os.cpu_count() or 1):
        number += 1
        totals = {name: total + getattr(played, name) for name, total in totals.items()}
        if played.violations:
            wrong = played
        if wrong or (worlds is None and time.monotonic() > until):
            break
    counts = ", ".join(f"{total:,} {name}" for name, total in totals.items())
    print(f"seed {seed}: {number:,} worlds of the reconciler, {counts}, {int(wrong is not None)} wrong")
    if wrong is None:
        return 0
    print(*wrong.story, sep="\n")
    return report(wrong)


def _played(seed: int, worlds: int | None, processes: int) -> Iterator[Reconciled]:
    numbers = itertools.count() if worlds is None else range(worlds)
    if processes == 1:
        yield from map(partial(reconcile_world, seed), numbers)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        # In slices, because a pool takes all that an endless iterator has.
        while some := list(itertools.islice(numbers, 20 * processes)) if worlds is None else list(numbers):
            yield from pool.imap(partial(reconcile_world, seed), some)
            if worlds is not None:
                return


def report(played: Reconciled) -> int:
    print(f"\n{played.name} is wrong:", *played.violations, sep="\n  ")
    seed, world = (part.split()[1] for part in played.name.split(", "))
    replay = f"python -m tests.simulation --kind reconciler --seed {seed} --world {world}"
    print(f"\nTo play it again: PYTHONHASHSEED=0 {replay}")
    return 1
