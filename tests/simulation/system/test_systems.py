"""Random worlds of the whole system; `make simulate SECONDS=600` plays more of them."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.simulation.reconciler.test_planted_bugs import tags_are_ignored
from tests.simulation.system import many
from tests.simulation.system.plan import draw
from tests.simulation.system.random_systems import Played, play, system_world
from tests.simulation.system.shrink import shrink

WORLDS, SLICES = 240, 4
ROOT = Path(__file__).parents[3]
# What the worlds must have enough of: else zero violations would mean little. Each is the least number in 60 worlds.
EVENTFUL = {
    "thefts": 20,
    "reused machines": 5,
    "standby machines": 3,
    "contested machines": 1,
    "spot warnings": 3,
    "jobs whose machine died": 3,
    "re-runs by the ledger": 1,
    "webhooks of a second hook": 20,
    "claims by strangers": 5,
    "approvals": 3,
    "webhooks never sent": 20,
    "webhooks that failed": 20,
    "suspensions": 3,
    "tasks": 10,
    "machines stopped": 10,
    "runners requested": 5,
    "cleanups requested by people": 3,
    "passes that overlap": 20,
    "deliveries deferred": 3,
    "deliveries duplicate": 20,
    "redeliveries": 20,
    "replays": 10,
    "messages delivered twice": 2,
    "fault: refused, no effect": 5,
    "fault: process killed before it": 5,
    "fault: process killed after it": 5,
}


@pytest.mark.parametrize("first", range(0, WORLDS, WORLDS // SLICES))
def test_no_world_violates_an_invariant_and_every_one_is_eventful(first: int) -> None:
    counts: Counter[str] = Counter()
    for number in range(first, first + WORLDS // SLICES):
        played = system_world(1, number)
        assert not played.violations or many.report(played) == 0
        counts.update(played.counts)
    assert not {name: counts[name] for name, least in EVENTFUL.items() if counts[name] < least}


def test_the_jobs_of_a_rerun_that_a_pass_requests_are_settled_after_the_rerun() -> None:
    """The webhooks of the new attempt are lost, and a redelivery makes it known with the last pass before the limit."""
    played = system_world(1, 3124)
    assert not played.violations, played.story
    assert played.counts["at rest after 4 passes"] == 1


def test_one_seed_is_one_world_whatever_the_hash_seed() -> None:
    code = (
        "from tests.simulation.system.random_systems import system_world as play\nprint(*play(1, 7).story, sep='\\n')"
    )
    stories = [_printed(code, PYTHONHASHSEED=seed) for seed in ("1", "2")]
    assert stories[0] == stories[1]
    assert stories[0].splitlines() == "\n".join(system_world(1, 7).story).splitlines()


def _printed(code: str, **environment: str) -> str:
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), *sys.path)))}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | paths | environment, capture_output=True, text=True, check=True
    )
    return ran.stdout


def test_a_part_that_is_left_out_does_not_change_the_others() -> None:
    plan = draw(1, 3)
    people = [each for each in plan.parts if each.startswith(("person", "replay"))]
    runs = [line for line in play(plan.without(*people)).story if " GitHub: job" in line]
    assert runs
    assert len(plan.without(*people).parts) == len(plan.parts) - len(people)


def first_wrong(worlds: int = 60) -> Played:
    return next(played for played in (system_world(1, number) for number in range(worlds)) if played.violations)


def test_a_wrong_world_is_printed_with_its_shortest_story_and_how_to_replay_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tags_are_ignored(monkeypatch)
    assert many.simulate(1, worlds=60, seconds=0, processes=1) == 1
    printed = capsys.readouterr().out
    assert "is not ours" in printed
    assert "1 violations" in printed
    assert "To play it again: python -m tests.simulation --kind system --seed 1 --world" in printed
    wrong = first_wrong()
    shortest = shrink(wrong)
    assert len(shortest.plan.parts) < len(wrong.plan.parts)
    assert len(shortest.story) < len(wrong.story) / 2
