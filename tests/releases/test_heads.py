"""Heads of branches: the newest run with a colour decides, whatever the order of its reports."""

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import pytest
from runledger.model.releases import HeadState
from runledger.releases import heads
from runledger.releases.heads import computed, is_counted, run_values

from tests.releases.scenes import MAIN, empty_engine, ended, heads_table, recorder, run, snapshot

GREEN, RED = "success", "failure"
CORRECTED_AT = "2026-11-17T10:30:00.000Z"


def head_after(*changes: dict[str, Any]) -> dict[str, Any]:
    engine = empty_engine()
    ended(engine, changes)
    found = heads_table(engine).head(MAIN)
    assert found
    return found


def state(head: dict[str, Any]) -> tuple[str, str | None, int]:
    return head["state"], head.get("since", "")[11:16] or None, head["last_run"]["run_id"]


def test_the_newest_run_with_a_colour_decides() -> None:
    assert state(head_after(run(1, GREEN), run(2, RED))) == ("red", "10:02", 2)
    assert state(head_after(run(1, RED), run(2, GREEN), run(3))) == ("green", "10:02", 3)
    assert state(head_after(run(1))) == ("none", None, 1)


@pytest.mark.parametrize("conclusion", ["failure", "timed_out", "startup_failure"])
def test_a_failure_is_red(conclusion: str) -> None:
    assert head_after(run(1, conclusion))["state"] == "red"


@pytest.mark.parametrize("conclusion", ["cancelled", "skipped", "neutral", "stale", "action_required", "unheard_of"])
def test_other_conclusions_change_no_colour(conclusion: str) -> None:
    assert state(head_after(run(1, GREEN), run(2, conclusion))) == ("green", "10:01", 2)


def test_a_streak_began_with_its_first_run() -> None:
    head = head_after(run(1, GREEN), run(2, RED), run(3, "cancelled"), run(4, RED), run(5))
    assert state(head) == ("red", "10:02", 5)
    assert (head["last_green_run"]["run_id"], head["previous_run"]["run_id"]) == (1, 4)


def test_a_late_run_never_moves_a_head_to_an_older_run() -> None:
    head = head_after(run(5, GREEN), run(4, RED), run(3, GREEN))
    assert state(head) == ("green", "10:05", 5)
    assert head["previous_run"]["run_id"] == 4


def test_a_run_that_is_tried_again_keeps_its_colour_until_it_ends() -> None:
    tried = run(2, RED), run(2, attempt=2)
    assert state(head_after(run(1, GREEN), *tried)) == ("red", "10:02", 2)
    assert state(head_after(run(1, GREEN), *tried, run(2, "cancelled", attempt=2))) == ("red", "10:02", 2)
    assert state(head_after(run(1, GREEN), *tried, run(2, GREEN, attempt=2))) == ("green", "10:01", 2)


def test_an_earlier_attempt_that_arrives_late_changes_nothing() -> None:
    head = head_after(run(2, GREEN, attempt=2), run(2, RED))
    assert (head["state"], head["last_run"]["run_attempt"]) == ("green", 2)


LIVES: dict[str, Sequence[dict[str, Any]]] = {
    "several runs": [run(1, GREEN), run(2, RED), run(3, "cancelled"), run(4, RED), run(5), run(6, GREEN)],
    "one run": [run(1), run(1, status="in_progress"), run(1, RED), run(2, GREEN), run(2)],
    "attempts": [run(1, GREEN), run(2, RED), run(2, attempt=2), run(2, GREEN, attempt=2), run(2, RED, attempt=3)],
    "a cancelled attempt": [run(1, GREEN), run(2, RED), run(2, "cancelled", attempt=2), run(3), run(3, "skipped")],
    "a corrected conclusion": [run(1, GREEN), run(2, RED), run(2, GREEN, updated_at=CORRECTED_AT), run(3), run(4)],
}


@pytest.mark.walk
@pytest.mark.parametrize("life", LIVES)
def test_every_order_ends_in_the_same_items(life: str) -> None:
    outcomes = [ended(empty_engine(), order) for order in permutations(LIVES[life])]
    assert len(outcomes) >= 120
    assert all(outcome == outcomes[0] for outcome in outcomes)


@pytest.mark.walk
@pytest.mark.parametrize("life", LIVES)
def test_batches_and_repetitions_end_in_the_same_items(life: str) -> None:
    expected = ended(empty_engine(), LIVES[life])
    for order in permutations(LIVES[life]):
        engine = empty_engine()
        recorder(engine).record_runs(order[:3])
        recorder(engine).record_runs(order[2:])
        recorder(engine).record_runs(order)
        assert snapshot(engine) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"event": "pull_request"},
        {"event": "pull_request_target"},
        {"event": "pull_request_review"},
        {"event": "issues"},
        {"event": "issue_comment"},
        {"event": "watch"},
        {"from_fork": True},
        {"event": None},
        {"default_branch": None},
        {"head_branch": None},
        {"workflow_id": None},
    ],
    ids=str,
)
def test_forks_pull_requests_strangers_and_unreported_runs_never_change_a_head(changes: dict[str, Any]) -> None:
    other = run(9, RED, **changes)
    assert not is_counted(other)
    assert ended(empty_engine(), [run(1, GREEN), other]) == ended(empty_engine(), [run(1, GREEN)])


@pytest.mark.parametrize("branch", ["fix/#12", "100%", "a%23b", "größe/✓", "release#1#31", "🚀" * 255])
def test_a_branch_of_any_name_has_a_head_of_its_own(branch: str) -> None:
    engine = empty_engine()
    ended(engine, [run(1, GREEN), run(2, RED, head_branch=branch)])
    table = heads_table(engine)
    found = table.head(MAIN._replace(branch=branch, is_default_branch=False))
    assert found
    assert (found["branch"], found["state"], found["is_default_branch"]) == (branch, "red", False)
    (listed,) = table.branch_heads(MAIN.installation_id, MAIN.repo_full_name, branch, limit=10).items
    assert listed["branch"] == branch
    (main,) = table.default_heads(MAIN.installation_id, limit=10).items
    assert (main["branch"], main["state"]) == ("main", "green")


def test_only_heads_of_other_branches_expire() -> None:
    tables = ended(empty_engine(), [run(1, GREEN), run(2, RED, head_branch="topic")])
    expiring = {partition: "ttl" in item for (partition, _), item in tables.items()}
    assert expiring == {
        "7#heads": False,
        "7#branch_heads#acme/shop": True,
        "7#runs#acme/shop#main#31": True,
        "7#branch_runs#acme/shop#topic#31": True,
        "7#commits#acme/shop": True,
    }


def rows(*runs: dict[str, Any]) -> list[dict[str, Any]]:
    return [run_values(each) for each in reversed(runs)]


def test_runs_that_have_expired_are_remembered_by_the_head() -> None:
    stored = computed(rows(run(1, GREEN), run(2, RED), run(3, RED)), None)
    assert stored
    later = computed(rows(run(4, RED)), stored)
    assert later
    assert (later["since"], later["since_run_id"], later["last_green_run"]["run_id"]) == (stored["since"], 2, 1)
    turned = computed(rows(run(4, GREEN)), stored)
    assert turned
    assert (turned["state"], turned["since_run_id"]) == ("green", 4)
    uncoloured = computed(rows(run(4)), stored)
    assert uncoloured
    assert (uncoloured["state"], uncoloured["since_run_id"]) == ("red", 2)


def test_at_most_500_runs_are_read() -> None:
    read = list[int]()

    def endless() -> Any:
        for number in range(10_000, 0, -1):
            read.append(number)
            yield run_values(run(1, GREEN) | {"run_id": number})

    head = computed(endless(), None)
    assert head
    assert (len(read), head["since_run_id"]) == (500, 9501)


@pytest.mark.walk
@pytest.mark.parametrize("life", LIVES)
def test_a_head_that_is_advanced_equals_one_that_is_computed(life: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most heads are advanced by their newest run alone, which must not differ from reading all runs."""
    advanced: Callable[..., Any] = heads.advanced
    number = 0

    def count(*arguments: Any) -> Any:
        nonlocal number
        found = advanced(*arguments)
        number += found is not None
        return found

    for order in permutations(LIVES[life]):
        monkeypatch.setattr(heads, "advanced", count)
        fast = ended(empty_engine(), order)
        monkeypatch.setattr(heads, "advanced", lambda *_: None)
        assert ended(empty_engine(), order) == fast
    assert number


def test_states_are_those_of_the_model() -> None:
    assert set(HeadState) == {"green", "red", "none"}
