"""Heads of environments: the last success decides, whatever the order of its reports."""

from itertools import permutations
from typing import Any

import pytest
from runledger.releases.environments import MOST_DEPLOYMENTS, computed, deployment_values, is_counted, state_of

from tests.releases.scenes import PRODUCTION, deployment, empty_engine, ended, heads_table, recorder, snapshot


def head_after(*changes: dict[str, Any]) -> dict[str, Any]:
    engine = empty_engine()
    ended(engine, changes)
    found = heads_table(engine).environment(PRODUCTION)
    assert found
    return found


def shas(deployments: list[dict[str, Any]]) -> str:
    return "".join(each["head_sha"][0] for each in deployments)


FIRST = deployment(1, "a", succeeded_at=1)
SECOND = deployment(2, "b", succeeded_at=2)
THIRD = deployment(3, "c", succeeded_at=3)


def test_the_last_success_is_deployed() -> None:
    head = head_after(FIRST, SECOND, deployment(3, "c", failed_at=3), deployment(4, "d"))
    assert (head["current"]["deployment_id"], head["since"]) == (2, SECOND["succeeded_at"])
    assert (head["previous"]["deployment_id"], head["latest"]["deployment_id"]) == (1, 4)
    assert (head["latest"]["state"], head["is_active"], head["is_rollback"]) == ("pending", True, False)


def test_a_late_deployment_never_moves_a_head_to_an_older_deployment() -> None:
    assert head_after(SECOND, FIRST)["current"]["deployment_id"] == 2
    assert head_after(SECOND, FIRST, deployment(1, "a", succeeded_at=1, inactive_at=2))["current"]["deployment_id"] == 2


def test_a_deployment_that_ends_after_a_newer_one_is_deployed() -> None:
    assert head_after(SECOND, deployment(1, "a", succeeded_at=5))["current"]["deployment_id"] == 1


def test_an_environment_that_was_never_deployed_has_no_current_deployment() -> None:
    head = head_after(deployment(1, failed_at=1))
    assert ("current" in head, head["is_active"], head["latest"]["state"]) == (False, False, "failure")


def test_an_environment_whose_deployment_became_inactive_is_not_active() -> None:
    head = head_after(FIRST, deployment(2, "b", succeeded_at=2, inactive_at=9))
    assert (head["current"]["deployment_id"], head["is_active"], head["current"]["state"]) == (2, False, "inactive")


def test_a_commit_that_is_deployed_again_after_another_is_a_rollback() -> None:
    assert head_after(FIRST, SECOND, deployment(3, "a", succeeded_at=3))["is_rollback"]
    assert not head_after(FIRST, SECOND, THIRD)["is_rollback"]
    assert not head_after(FIRST, deployment(2, "a", succeeded_at=2))["is_rollback"]


def test_a_deployment_that_becomes_active_again_is_a_rollback() -> None:
    first = deployment(1, "a", succeeded_at=5, inactive_at=2)
    head = head_after(FIRST, SECOND, first)
    assert (head["current"]["deployment_id"], head["is_active"], head["is_rollback"]) == (1, True, True)
    assert not head_after(FIRST, first)["is_rollback"]


def test_rollback_targets_are_the_last_five_other_commits() -> None:
    deployed = [deployment(n, sha, succeeded_at=n) for n, sha in enumerate("abcbdefgahh", start=1)]
    head = head_after(*deployed)
    assert shas(head["rollback_targets"]) == "agfed"
    assert head["previous"] == head["rollback_targets"][0]
    assert [each["deployment_id"] for each in head["rollback_targets"]] == [9, 8, 7, 6, 5]


def test_expired_deployments_are_remembered_by_the_head() -> None:
    stored = computed([deployment_values(each) for each in (SECOND, FIRST)], None)
    later = computed([deployment_values(THIRD)], stored)
    assert later
    assert (later["current"]["deployment_id"], shas(later["rollback_targets"])) == (3, "ba")


LIVES = {
    "one deployment": [
        deployment(1),
        deployment(1, failed_at=1),
        deployment(1, succeeded_at=2, failed_at=1),
        deployment(1, succeeded_at=2, failed_at=1, inactive_at=3),
        deployment(1, succeeded_at=4, failed_at=1, inactive_at=3),
    ],
    "several deployments": [
        FIRST,
        SECOND,
        deployment(3, "c", failed_at=3),
        deployment(4, "a", succeeded_at=4),
        deployment(5),
    ],
    "a replaced deployment": [
        FIRST,
        deployment(1, "a", succeeded_at=1, inactive_at=2),
        SECOND,
        deployment(2, "b", succeeded_at=2, inactive_at=3),
        deployment(3, "a", succeeded_at=3),
        deployment(4, "d"),
    ],
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
        recorder(engine).record_deployments(order[:3])
        recorder(engine).record_deployments(order)
        assert snapshot(engine) == expected


@pytest.mark.parametrize("missing", ["head_sha", "environment", "deployment_id", "repo_full_name", "created_at"])
def test_items_of_other_kinds_never_change_an_environment(missing: str) -> None:
    other = {name: value for name, value in deployment(9, "z", succeeded_at=9).items() if name != missing}
    assert not is_counted(other)
    engine = empty_engine()
    recorder(engine).record_deployments([FIRST, other])
    assert snapshot(engine) == ended(empty_engine(), [FIRST])


@pytest.mark.parametrize("environment", ["a#b", "50%", "Prod (eu) ✓", "🚀" * 255])
def test_an_environment_of_any_name_has_a_head_of_its_own(environment: str) -> None:
    engine = empty_engine()
    ended(engine, [FIRST, SECOND | {"environment": environment}])
    found = heads_table(engine).environment(PRODUCTION._replace(environment=environment))
    assert found
    assert (found["environment"], found["current"]["deployment_id"]) == (environment, 2)


def test_only_inactive_environments_that_are_no_production_ones_expire() -> None:
    preview: dict[str, Any] = {"environment": "pr-12", "is_production": None}
    active = deployment(1, succeeded_at=1, **preview)
    inactive = deployment(1, succeeded_at=1, inactive_at=2, **preview)
    for changes, expires in (([active], False), ([active, inactive], True), ([deployment(1)], False)):
        items = ended(empty_engine(), changes).items()
        assert ["ttl" in item for (partition, _), item in items if partition == "7#environments"] == [expires]


@pytest.mark.parametrize(
    ("times", "state"),
    [
        ({}, "pending"),
        ({"succeeded_at": "2"}, "success"),
        ({"succeeded_at": "2", "failed_at": "3"}, "failure"),
        ({"succeeded_at": "3", "failed_at": "2"}, "success"),
        ({"succeeded_at": "2", "inactive_at": "2"}, "inactive"),
        ({"succeeded_at": "3", "inactive_at": "2"}, "success"),
        ({"failed_at": "2"}, "failure"),
    ],
)
def test_the_state_of_a_deployment_is_its_latest(times: dict[str, str], state: str) -> None:
    assert state_of(times) == state


def test_an_old_deployment_ends_and_returns_although_many_are_newer() -> None:
    engine = empty_engine()
    heads, newer = recorder(engine), range(2, MOST_DEPLOYMENTS + 10)
    heads.record_deployments([deployment(1, "a", succeeded_at=1)])
    heads.record_deployments(deployment(each, "b", created_at=9) for each in newer)
    heads.record_deployments([deployment(1, "a", succeeded_at=1, inactive_at=2)])
    assert (heads_table(engine).environment(PRODUCTION) or {})["is_active"] is False
    heads.record_deployments([deployment(1, "a", succeeded_at=3, inactive_at=2)])
    assert (heads_table(engine).environment(PRODUCTION) or {})["is_active"] is True


def test_a_success_that_is_recorded_after_many_newer_deployments_is_current() -> None:
    engine = empty_engine()
    heads = recorder(engine)
    heads.record_deployments(deployment(each, "b", created_at=9) for each in range(2, MOST_DEPLOYMENTS + 10))
    heads.record_deployments([deployment(1, "a", succeeded_at=1)])
    assert (heads_table(engine).environment(PRODUCTION) or {})["current"]["deployment_id"] == 1
