"""Plays the demo workload: on the simulated GitHub, which sends its webhooks, and on the buses of a deployment."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from typing import TYPE_CHECKING

from local import aws, summary
from local.control import Control
from local.github_records import records
from local.lives import lives
from local.payloads.subjects import Installation, Job
from local.player import Player
from local.steps import Awaited, bus_events, deliveries

if TYPE_CHECKING:
    from datetime import datetime

    from local.outputs import Outputs
    from local.steps import Step

BY_HAND_TYPE = "c7g.4xlarge"
BY_HAND_POOL = "benchmarks"

_AT_ONCE = 4
# GitHub gives up after 10 seconds; a first call here may also have to start the function on a busy machine.
_PATIENCE_SECONDS = 30


def send(outputs: Outputs, *, now: datetime, seed: int = 1) -> list[Step]:
    """Let everything happen, in order for each run, and show what the ledger made of it."""
    by_hand = aws.start_instance(outputs, instance_type=BY_HAND_TYPE, pool_name=BY_HAND_POOL)
    steps = lives(now, seed, by_hand=by_hand)
    jobs = {step.subject for step in steps if isinstance(step.subject, Job)}
    sent, published = len(deliveries(steps)), len(bus_events(steps))
    print(f"Playing the lives of {len(jobs)} jobs: {sent} deliveries of GitHub, {published} events of runners")
    github = Control(outputs.github_api_url)
    github.configure(
        webhook_url=outputs.webhook_url, webhook_secret=outputs.webhook_secret, give_up_seconds=_PATIENCE_SECONDS
    )
    for record in records(each for each in deliveries(steps) if isinstance(each.subject, Installation)):
        github.put(record)
    with closing(Player(outputs, github)) as player:
        _play(player, steps)
    print("The ledger now holds")
    for line in summary.lines(outputs, steps, now):
        print(f"  {line}")
    return steps


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
