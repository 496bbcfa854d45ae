"""Busy runners: a cleared one isn't suspected again for a while, and one with an unknown job is listed."""

from typing import Any

import pytest
from runledger.reconciliation.orphans import RECHECK_SECONDS

from tests.support.ledgers import RUNNERS
from tests.support.reconciler_scene import RAN, Scene, ago, outlived
from tests.support.webhooks import COMPLETED, IN_PROGRESS, QUEUED, REPO

UNKNOWN = "works on a job that isn't in the ledger"


def cleared_earlier(scene: Scene, instance: str, **ago_: float) -> None:
    scene.world.dynamodb.update_item(
        TableName=RUNNERS,
        Key={"PK": {"S": instance}, "SK": {"S": "v"}},
        UpdateExpression="SET suspicion_cleared_at = :at",
        ExpressionAttributeValues={":at": {"S": ago(**ago_).replace("Z", ".000Z")}},
    )


def busy(scene: Scene) -> str:
    """A runner that was suspected, and cleared because GitHub reports it as busy."""
    instance = outlived(scene, busy=True)
    scene.reconcile("quick")
    scene.reconcile("quick")
    return instance


def test_a_busy_runner_does_not_flap_between_suspected_and_cleared(scene: Scene) -> None:
    instance = busy(scene)
    cleared = scene.runner(instance)
    assert cleared["suspicion_cleared_reason"] == "busy"
    for _ in range(3):
        assert scene.reconcile("quick")["summary"]["orphans"] == 0
    assert scene.runner(instance) == cleared  # and nothing more is written


def test_a_cleared_runner_is_checked_again_after_a_while(scene: Scene) -> None:
    instance = busy(scene)
    cleared_earlier(scene, instance, seconds=RECHECK_SECONDS + 60)
    scene.github.state.put("runners", 9, scope=REPO, name=f"runner--{instance}", busy=False)
    assert scene.reconcile("quick")["summary"]["orphans_detected"] == 1
    assert "suspicion_cleared_at" not in scene.runner(instance)
    scene.reconcile("quick")
    assert scene.state_of(instance) == "terminated"


def test_the_end_of_a_cleared_runners_machine_is_found_at_once(scene: Scene) -> None:
    instance = busy(scene)
    scene.world.client("ec2").terminate_instances(InstanceIds=[instance])
    assert scene.reconcile("quick")["summary"]["stale_mappings"] == 1


def test_a_cleared_runner_that_outlives_its_next_job_is_suspected_without_a_pause(scene: Scene) -> None:
    instance = busy(scene)
    later = RAN | {"started_at": ago(minutes=20), "runner_name": f"runner--{instance}"}
    scene.receive(IN_PROGRESS, 2, **later)
    scene.world.invoke("runner_lookup", {"Records": scene.world.waiting("lookups")})
    scene.receive(COMPLETED, 2, **later, completed_at=ago(minutes=5))
    assert scene.reconcile("quick")["summary"]["orphans_detected"] == 1


def test_a_runner_that_works_on_an_unknown_job_is_listed_as_such(scene: Scene) -> None:
    scene.receive(COMPLETED, 1, completed_at=ago(minutes=30))
    instance = scene.start_instance()
    scene.github.state.put("runners", 9, scope=REPO, name=f"runner--{instance}", busy=True)
    scene.reconcile()
    found = scene.reconcile()["text"]
    assert f"runner {instance}: no_job; not cleaned: GitHub reports this runner as busy" in found
    cleared_at = scene.runner(instance)["suspicion_cleared_at"]
    assert f"runner {instance}: {UNKNOWN}: busy on GitHub at {cleared_at}" in scene.reconcile()["text"]


def test_a_runner_that_works_on_another_job_than_the_queued_one_is_listed_as_such(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNNER_REGISTRATION_MINUTES", "0")
    instance = scene.start_instance()
    about: dict[str, Any] = {"scope": REPO, "name": f"runner--{instance}", "busy": True}
    scene.receive(QUEUED, 1)
    scene.on_github(1, "queued")
    scene.launch(1, instance)
    scene.github.state.put("runners", 9, **about)
    response = scene.reconcile("quick")
    assert response["summary"]["orphans"] == 0
    assert f"runner {instance}: {UNKNOWN}; not changed" in response["text"]


def test_a_long_running_runner_is_listed_with_its_job(scene: Scene) -> None:
    instance = scene.start_instance()
    long_ago = {"created_at": ago(hours=9), "started_at": ago(hours=8), "runner_id": 9}
    scene.launch(1, instance)
    scene.receive(IN_PROGRESS, 1, **long_ago, runner_name=f"runner--{instance}")
    scene.on_github(1, "in_progress", **long_ago)
    response = scene.reconcile("quick")
    assert response["summary"]["long_running_jobs"] == 1
    assert f"runner {instance}: long-running, job 1 of {REPO} in progress since" in response["text"]
