"""A launcher's event proves no end of a machine, and takes no machine from an owner that is proven otherwise."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from runledger.runners.instances import describe_tasks

from tests.security.machines import OWNER, busy_machine, look_up, reconcile
from tests.support.reconciler_scene import TAGGED, Scene, ago
from tests.support.runner_events import ACCOUNT, batch, launcher
from tests.support.stranger import INSTALLATION as STRANGER
from tests.support.stranger import Stranger
from tests.support.webhooks import IN_PROGRESS, INSTALLATION, REPO


def test_a_launchers_report_that_a_running_machine_has_ended_has_no_effect(scene: Scene) -> None:
    instance = busy_machine(scene)
    scene.launch(1, instance)
    response = scene.world.invoke("scheduling_events", batch(terminated(instance) | {"time": ago(minutes=5)}))
    assert response == {"batchItemFailures": []}
    assert scene.runner(instance)["status"] == "active"
    assert "terminated_at" not in scene.job(1)
    assert scene.history(1)[-1]["action"] == "reported by the launcher"


def test_a_launchers_report_about_a_machine_that_ec2_never_confirmed_has_no_effect(scene: Scene) -> None:
    elsewhere = "i-0fffffffffffffff0"
    scene.launch(1, elsewhere)
    scene.world.invoke("scheduling_events", batch(terminated(elsewhere) | {"time": ago(minutes=5)}))
    reconcile(scene)
    assert scene.runner(elsewhere)["status"] == "active"
    assert "terminated_at" not in scene.job(1)


def test_a_launchers_report_of_an_end_takes_effect_once_ec2_confirms_it(scene: Scene) -> None:
    instance = busy_machine(scene)
    scene.world.client("ec2").terminate_instances(InstanceIds=[instance])
    scene.world.invoke("scheduling_events", batch(terminated(instance) | {"time": ago(minutes=5)}))
    assert scene.runner(instance)["status"] == "cleaned"
    assert "terminated_at" in scene.job(1)


def terminated(instance_id: str) -> dict[str, Any]:
    return launcher("runner_terminated", runner_id=instance_id)


def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mallory's launcher may publish about mallory's installation, the victim's about all."""
    everything = {"account": ACCOUNT, "source": "my.launcher", "installations": "*"}
    theirs = {"account": ACCOUNT, "source": "mallory.launcher", "installations": [STRANGER]}
    monkeypatch.setenv("EVENT_PUBLISHERS", json.dumps([everything, theirs]))


def schedule(scene: Scene, mallory: Stranger, instance: str, **detail: Any) -> Any:
    about = {"installation_id": STRANGER, "repo_full_name": mallory.repo, **detail}
    event = launcher("runner_scheduled", job_id=6662, runner_id=instance, **about)
    return scene.world.invoke(
        "scheduling_events", batch(event | {"source": "mallory.launcher", "time": ago(minutes=20)})
    )


@pytest.mark.parametrize("claims_to_be_the_victims", [False, True])
def test_a_limited_publisher_takes_no_machine_whose_owner_a_tag_names(
    scene: Scene, mallory: Stranger, monkeypatch: pytest.MonkeyPatch, claims_to_be_the_victims: bool
) -> None:
    limited(monkeypatch)
    instance = busy_machine(scene, launcher_reports=False, tags=TAGGED | {"ghr:Owner": OWNER})
    schedule(scene, mallory, instance, **({"repo_full_name": REPO} if claims_to_be_the_victims else {}))
    runner = scene.runner(instance)
    assert (runner["installation_id"], runner["proven_by"], runner["job_id"]) == (INSTALLATION, "launcher_tag", 1)


def test_a_limited_publisher_that_comes_first_gives_way_to_the_owner_that_a_tag_names(
    scene: Scene, mallory: Stranger, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch)
    instance = scene.start_instance(TAGGED | {"ghr:Owner": OWNER})
    schedule(scene, mallory, instance)
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=45), runner_id=9, runner_name=f"runner--{instance}")
    look_up(scene)
    assert scene.job(1)["instance_id"] == instance
    assert schedule(scene, mallory, instance)["batchItemFailures"]
    runner = scene.runner(instance)
    assert (runner["installation_id"], runner["proven_by"]) == (INSTALLATION, "launcher_tag")
    assert "contested_at" not in runner


@pytest.mark.parametrize("publisher_first", [True, False])
def test_a_limited_publisher_and_another_claimant_make_a_machine_contested(
    scene: Scene, mallory: Stranger, monkeypatch: pytest.MonkeyPatch, publisher_first: bool
) -> None:
    limited(monkeypatch)
    if publisher_first:
        instance = scene.start_instance()
        schedule(scene, mallory, instance)
        scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=45), runner_id=9, runner_name=f"runner--{instance}")
        look_up(scene)
    else:
        instance = busy_machine(scene, launcher_reports=False)
        assert schedule(scene, mallory, instance)["batchItemFailures"]
    assert "contested_at" in scene.runner(instance)
    scene.launch(1, instance)
    assert scene.runner(instance)["proven_by"] == "launcher_event"


def test_a_limited_publisher_writes_nothing_into_another_owners_machine_or_job(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch)
    instance = busy_machine(scene, launcher_reports=False)
    before = (scene.runner(instance), scene.job(1), scene.history(1))
    for kind in ("runner_attached", "runner_terminated"):
        event = launcher(kind, runner_id=instance, installation_id=STRANGER)
        published = batch(event | {"source": "mallory.launcher", "time": ago(minutes=1)})
        assert scene.world.invoke("scheduling_events", published)["batchItemFailures"]
    assert (scene.runner(instance), scene.job(1), scene.history(1)) == before


def test_a_report_from_the_future_is_dated_by_its_arrival(scene: Scene) -> None:
    instance = scene.start_instance()
    event = launcher("runner_scheduled", job_id=1, runner_id=instance)
    published = batch(event | {"time": "2099-01-01T00:00:00Z"})
    published["Records"][0]["attributes"] = {"SentTimestamp": "1736935200000", "ApproximateReceiveCount": "1"}
    scene.world.invoke("scheduling_events", published)
    assert not [item for item in (*scene.history(1), scene.runner(instance)) if "2099" in str(item)]


def test_an_arn_of_another_account_or_region_is_another_task() -> None:
    task_id = "0a" * 16
    real = f"arn:aws:ecs:us-east-1:{ACCOUNT}:task/runners/{task_id}"
    alias = f"arn:aws:ecs:eu-west-9:999999999999:task/runners/{task_id}"
    ecs = SimpleNamespace(
        describe_tasks=lambda **_: {"tasks": [{"taskArn": real, "lastStatus": "RUNNING", "tags": []}]}
    )
    assert set(describe_tasks(ecs, "runners", [real, alias, task_id])) == {real, task_id}
