"""Plays the demo workload on the simulated GitHub and on the event buses of a deployment."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from local.demo import machines, passes, relay, release_summary, releases, summary
from local.demo.api import Api
from local.demo.github_records import records
from local.demo.payloads.entities import Installation, Job
from local.demo.player import Player
from local.demo.scenarios.catalogue import all_steps
from local.demo.scenarios.releases import INSTALLATION, history
from local.demo.steps import Awaited, bus_events, deliveries
from local.github.control import Control

if TYPE_CHECKING:
    from datetime import datetime

    from local.aws.outputs import Outputs
    from local.demo.machines import Machines
    from local.demo.passes import Pass
    from local.demo.steps import Step

# The second pass acts on what the first one suspected.
PASSES = ("first", "second")

_AT_ONCE = 4
# Longer than GitHub's 10 seconds, because the first delivery may have to start the function on a busy machine.
_TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    steps: list[Step]
    machines: Machines
    passes: list[Pass]


def send(outputs: Outputs, *, now: datetime, seed: int = 1) -> Played:
    """Play all steps, in order for each run, invoke the reconciler, and print a summary."""
    started = machines.start(outputs)
    steps = all_steps(now, seed, machines=started)
    jobs = {step.subject for step in steps if isinstance(step.subject, Job)}
    sent, published = len(deliveries(steps)), len(bus_events(steps))
    print(f"Playing {len(jobs)} jobs: {sent} GitHub deliveries, {published} runner events")
    has_releases = "release_stream" in outputs.functions
    before = history(now, seed) if has_releases else []
    github = Control(outputs.github_api_url)
    github.configure(webhook_secret=outputs.webhook_secret, give_up_seconds=_TIMEOUT_SECONDS)
    installations = [each for each in deliveries(steps) if isinstance(each.subject, Installation)]
    for record in (*records(installations), *machines.registrations(started)):
        github.put(record)
    with relay.running(outputs) as dated, closing(Player(outputs, github, dated)) as player:
        github.configure(webhook_url=dated.url)
        _play(player, [*steps, *before])
    github.configure(webhook_url=outputs.webhook_url)
    api = Api(outputs, INSTALLATION)
    if has_releases:
        releases.publish_previous_version(api)
    reconciled = [_reconcile(outputs, github, which) for which in PASSES]
    if has_releases:
        print(f"Releasing {releases.PACKAGE} {releases.VERSION}, on which {len(releases.DEPENDENTS)} packages depend")
        releases.release(api, github)
    print("Summary of the ledger")
    for line in (*summary.lines(outputs, steps, reconciled), *(release_summary.lines(api) if has_releases else ())):
        print(f"  {line}")
    return Played(steps=steps, machines=started, passes=reconciled)


def _reconcile(outputs: Outputs, github: Control, which: str) -> Pass:
    """Waits until the redeliveries that the pass requested have arrived."""
    print(f"Result of the {which} reconciler pass")
    done = passes.invoke(outputs)
    for line in done.excerpt():
        print(f"  {line}")
    github.deliveries()
    return done


def _play(player: Player, steps: list[Step]) -> None:
    """Waits for runner cleanups at the end, because no other step depends on them."""
    by_run: dict[int, list[Step]] = defaultdict(list)
    at_the_end = []
    for step in steps:
        if isinstance(step, Awaited) and step.table == "runners":
            at_the_end.append(step)
        else:
            by_run[step.subject.run.id if isinstance(step.subject, Job) else step.subject.id].append(step)
    # The first run is played alone to start the functions one by one; all at once would time out on a small machine.
    first, *others = sorted(by_run.values(), key=lambda run_steps: not bus_events(run_steps))
    done, total = player.play_all(first), sum(len(each) for each in by_run.values())
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for played in as_completed([threads.submit(player.play_all, each) for each in others]):
            before, done = done, done + played.result()
            if done // 100 > before // 100:
                print(f"  {done} of {total} steps")
    for step in at_the_end:
        player.play(step)
