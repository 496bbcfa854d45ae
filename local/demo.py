"""Plays the demo workload: on the simulated GitHub, which sends its webhooks, and on the buses of a deployment."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from local import machines, passes, summary
from local.control import Control
from local.github_records import records
from local.lives import lives
from local.payloads.subjects import Installation, Job
from local.player import Player
from local.steps import Awaited, bus_events, deliveries

if TYPE_CHECKING:
    from datetime import datetime

    from local.machines import Machines
    from local.outputs import Outputs
    from local.passes import Pass
    from local.steps import Step

# One to see what is wrong, and another to see that it has been wrong for a while.
PASSES = ("first", "second")

_AT_ONCE = 4
# GitHub gives up after 10 seconds; a first call here may also have to start the function on a busy machine.
_PATIENCE_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    steps: list[Step]
    machines: Machines
    passes: list[Pass]


def send(outputs: Outputs, *, now: datetime, seed: int = 1) -> Played:
    """Let everything happen, in order for each run, have it reconciled, and show what the ledger made of it."""
    started = machines.start(outputs)
    steps = lives(now, seed, machines=started)
    jobs = {step.subject for step in steps if isinstance(step.subject, Job)}
    sent, published = len(deliveries(steps)), len(bus_events(steps))
    print(f"Playing the lives of {len(jobs)} jobs: {sent} deliveries of GitHub, {published} events of runners")
    github = Control(outputs.github_api_url)
    github.configure(
        webhook_url=outputs.webhook_url, webhook_secret=outputs.webhook_secret, give_up_seconds=_PATIENCE_SECONDS
    )
    installations = [each for each in deliveries(steps) if isinstance(each.subject, Installation)]
    for record in (*records(installations), *machines.registrations(started)):
        github.put(record)
    with closing(Player(outputs, github)) as player:
        _play(player, steps)
    reconciled = [_reconcile(outputs, github, which) for which in PASSES]
    print("The ledger now holds")
    for line in summary.lines(outputs, steps, reconciled):
        print(f"  {line}")
    return Played(steps=steps, machines=started, passes=reconciled)


def _reconcile(outputs: Outputs, github: Control, which: str) -> Pass:
    """What it had GitHub send again has arrived when this returns."""
    print(f"The {which} pass of the reconciler says")
    done = passes.order(outputs)
    for line in done.excerpt():
        print(f"  {line}")
    github.deliveries()
    return done


def _play(player: Player, steps: list[Step]) -> None:
    """Nobody's story goes on when a runner is cleaned, so that is waited for once, at the end."""
    by_run: dict[int, list[Step]] = defaultdict(list)
    at_the_end = []
    for step in steps:
        if isinstance(step, Awaited) and step.table == "runners":
            at_the_end.append(step)
        else:
            by_run[step.subject.run.id if isinstance(step.subject, Job) else step.subject.id].append(step)
    # One alone, and with a runner: functions that all start at once time out on a small machine.
    first, *others = sorted(by_run.values(), key=lambda life: not bus_events(life))
    done, total = player.live(first), sum(len(life) for life in by_run.values())
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for life in as_completed([threads.submit(player.live, life) for life in others]):
            before, done = done, done + life.result()
            if done // 100 > before // 100:
                print(f"  {done} of {total} steps")
    for step in at_the_end:
        player.play(step)
