"""Plays random worlds for as long as asked: `python -m tests.simulation --seconds 60 --seed 1`."""

import argparse
import sys
import time

from tests.simulation.random_worlds import Played, random_world, worlds


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long to play (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="which worlds to play (default: 1)")
    parser.add_argument("--world", type=int, help="play this world alone and print its story")
    options = parser.parse_args()
    if options.world is not None:
        played = random_world(options.seed, options.world)
        print(played.outcome.story())
        return _report(played) if played.violations else 0
    return simulate(options.seed, options.seconds)


def simulate(seed: int, seconds: float) -> int:
    until = time.monotonic() + seconds
    number = steps = faults = 0
    for played in worlds(seed):
        number += 1
        steps += played.outcome.calls
        faults += played.outcome.faults
        if played.violations or time.monotonic() > until:
            break
    violations = len(played.violations)
    print(f"seed {seed}: {number:,} worlds, {steps:,} steps, {faults:,} faults, {violations} violations")
    if violations:
        print(played.outcome.story())
        return _report(played)
    return 0


def _report(played: Played) -> int:
    print(f"\n{played.name} violates:", *played.violations, sep="\n  ")
    seed, world = (part.split()[1] for part in played.name.split(", "))
    print(f"\nTo play it again: python -m tests.simulation --seed {seed} --world {world}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
