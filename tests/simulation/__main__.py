"""Plays random worlds for the given time, or the given number of orders of every scenario."""

import argparse
import sys
import time
from collections.abc import Callable, Iterable

from tests.simulation.disturbed_scenarios import crashes, crashes_twice, races, races_with_lookups
from tests.simulation.explore import Outcome
from tests.simulation.random_scenarios import orders
from tests.simulation.random_worlds import Played, random_world, worlds
from tests.simulation.reconciler import many
from tests.simulation.scenario_checks import undisturbed, violations
from tests.simulation.scenarios import SCENARIOS
from tests.simulation.system import many as systems

CRASHED_ORDERS = 20  # of the inputs of a scenario, with a crash at every call


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long to play (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="which worlds to play (default: 1)")
    parser.add_argument("--world", type=int, help="play this world alone and print its story")
    parser.add_argument("--orders", type=int, help="play so many random orders of every scenario, or all if fewer")
    parser.add_argument("--kind", choices=("ledger", "reconciler", "system"), help="of which worlds (default: all)")
    parser.add_argument("--worlds", type=int, help="play this many worlds, however long it takes (not of the ledger)")
    parser.add_argument("--races", type=int, help="play crashes at every call, and so many races of every two inputs")
    parser.add_argument("--scenario", choices=sorted(SCENARIOS), help="with --orders or --races: this scenario alone")
    options = parser.parse_args()
    names = [options.scenario] if options.scenario else list(SCENARIOS)
    if options.orders is not None:
        return max(play_orders(name, options.seed, options.orders) for name in names)
    if options.kind == "reconciler":
        return many.main(options.seed, worlds=options.worlds, seconds=options.seconds, world=options.world)
    if options.kind == "system":
        return systems.main(options.seed, worlds=options.worlds, seconds=options.seconds, world=options.world)
    if options.races is not None:
        return max(play_races(name, options.seed, options.races) for name in names)
    if options.world is not None:
        played = random_world(options.seed, options.world)
        print(played.outcome.story())
        return _report(played) if played.violations else 0
    return (simulate if options.kind == "ledger" else simulate_all)(options.seed, options.seconds)


def simulate_all(seed: int, seconds: float) -> int:
    """Most of the time goes to the whole system; the worlds of the ledger and the reconciler are its parts."""
    parts: tuple[Callable[[], int], ...] = (
        lambda: systems.simulate(seed, worlds=None, seconds=0.8 * seconds),
        lambda: many.simulate(seed, worlds=None, seconds=0.1 * seconds),
        lambda: simulate(seed, 0.1 * seconds),
    )
    return next((code for part in parts if (code := part())), 0)


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


def play_orders(name: str, seed: int, limit: int) -> int:
    scenario = SCENARIOS[name]
    expected = undisturbed(*scenario.inputs.values())
    every = orders(scenario, limit=limit, seed=seed)
    return _play(f"{name}: orders", ((outcome, violations(outcome, scenario, expected)) for outcome in every))


def play_races(name: str, seed: int, limit: int) -> int:
    scenario = SCENARIOS[name]
    plays = {
        "crashes": crashes(scenario, orders=CRASHED_ORDERS, seed=seed),
        "crashes during the recovery": crashes_twice(scenario, limit=None, seed=seed),
        "races": races(scenario, limit=limit),
        "races with lookups": races_with_lookups(scenario, limit=limit),
    }
    return max(_play(f"{name}: {kind}", played) for kind, played in plays.items())


def _play(name: str, plays: Iterable[tuple[Outcome, list[str]]]) -> int:
    """Play worlds until the first violation."""
    number = steps = 0
    for outcome, found in plays:
        number += 1
        steps += outcome.calls
        if found:
            print(outcome.story())
            print(f"\n{name}: play {number} violates:", *found, sep="\n  ")
            return 1
    print(f"{name}: {number:,} plays, {steps:,} steps, 0 violations")
    return 0


def _report(played: Played) -> int:
    print(f"\n{played.name} violates:", *played.violations, sep="\n  ")
    seed, world = (part.split()[1] for part in played.name.split(", "))
    print(f"\nTo play it again: python -m tests.simulation --seed {seed} --world {world}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
