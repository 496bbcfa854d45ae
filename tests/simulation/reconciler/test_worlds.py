"""Eighty random worlds of the reconciler; `make simulate KIND=reconciler WORLDS=5000` plays more of them."""

import pytest

from tests.simulation.reconciler import many
from tests.simulation.reconciler.random_reconciliations import Reconciled, reconcile_world
from tests.simulation.reconciler.suspicions import ALIVE
from tests.simulation.reconciler.test_planted_bugs import tags_are_ignored

WORLDS = 80  # two installations claim one machine in the 76th


@pytest.fixture(scope="module")
def played() -> list[Reconciled]:
    return [reconcile_world(1, number) for number in range(WORLDS)]


def test_whatever_goes_wrong_the_ledger_equals_github_and_no_machine_is_stopped_wrongly(
    played: list[Reconciled],
) -> None:
    wrong = next((each for each in played if each.violations), None)
    assert wrong is None or many.report(wrong) == 0, "\n".join([*wrong.story, *wrong.violations])


def test_the_worlds_are_eventful(played: list[Reconciled]) -> None:
    """Else nothing of the above would mean anything."""
    assert sum(each.stops for each in played) > WORLDS / 2
    assert sum(each.requests for each in played) > WORLDS / 2
    assert sum(each.healed for each in played) > WORLDS
    assert all(sum(each.suspected[reason] for each in played) for reason in ALIVE)
    stories = "\n".join(line for each in played for line in each.story)
    for event in (
        "never sent:",
        "not delivered:",
        "webhook again:",
        "intake is down",
        "GitHub redelivers",
        "GitHub: suspend",
        "GitHub: unsuspend",
        "is deleted",
        "[404]",
        "[403]",
        "[502]",
        "[timeout]",
        "[primary limit]",
        "[secondary limit]",
        "process killed before it",
        "process killed after it",
        "dies",
        "contested by installations",
    ):
        assert event in stories, event


def test_the_same_world_is_played_again(played: list[Reconciled]) -> None:
    assert reconcile_world(1, 7).story == played[7].story


def test_a_wrong_world_is_printed_with_its_story_and_how_to_replay_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tags_are_ignored(monkeypatch)
    assert many.simulate(1, worlds=30, seconds=0, processes=1) == 1
    printed = capsys.readouterr().out
    assert "is not ours" in printed
    assert "To play it again: PYTHONHASHSEED=0 python -m tests.simulation --kind reconciler --seed 1 --world" in printed
