"""Orphans are suspected in one pass and cleaned in a later one; busy machines are never changed."""

import pytest
from runledger.reconciliation.cleanup import CleanupOutcome

from tests.support.reconciler_scene import ORG, RAN, TAGGED, Scene, ago, outlived
from tests.support.runner_events import TASK, batch, instance_state, task_state
from tests.support.webhooks import COMPLETED, IN_PROGRESS, REPO


def test_a_runner_that_outlives_its_job_is_suspected_then_stopped_and_taken_off_github(scene: Scene) -> None:
    instance = outlived(scene)
    first = scene.reconcile("quick")
    assert (first["summary"]["orphans_detected"], first["summary"]["orphans_cleaned"]) == (1, 0)
    assert scene.state_of(instance) == "running"
    assert scene.runner(instance)["suspected_reason"] == "job_completed"
    second = scene.reconcile("quick")
    assert (second["summary"]["orphans_detected"], second["summary"]["orphans_cleaned"]) == (0, 1)
    assert scene.state_of(instance) == "terminated"
    assert 9 not in scene.github.state.runners
    runner = scene.runner(instance)
    assert (runner["status"], runner["terminated_reason"]) == ("cleaned", "orphan: job_completed")
    assert scene.history(1)[-1]["event_type"] == "runner_terminated"
    assert not scene.job(1).get("was_interrupted")


def test_the_suspicion_of_a_busy_runner_is_cleared(scene: Scene) -> None:
    instance = outlived(scene, busy=True)
    scene.reconcile()
    scene.reconcile()
    assert scene.state_of(instance) == "running"
    runner = scene.runner(instance)
    assert runner["status"] == "active"
    assert "suspected_at" not in runner


def test_the_runner_of_another_machine_that_took_its_job_proves_nothing(scene: Scene) -> None:
    """The machine was launched for a job that ran elsewhere, on a runner that is busy with another job by now."""
    instance, other = scene.start_instance(), scene.start_instance()
    scene.launch(1, instance)
    name = f"runner--{other}"
    scene.receive(COMPLETED, 1, **RAN, runner_name=name, completed_at=ago(minutes=30))
    scene.github.state.put("runners", 9, scope=REPO, name=name, busy=True)
    scene.reconcile("quick")
    scene.reconcile("quick")
    assert (scene.state_of(instance), scene.state_of(other)) == ("terminated", "running")
    assert 9 in scene.github.state.runners


def test_the_suspicion_of_a_machine_that_is_busy_under_an_unrecorded_name_is_cleared(scene: Scene) -> None:
    instance = outlived(scene)
    scene.github.state.put("runners", 10, scope=ORG, name=f"again-{instance}", busy=True)
    scene.reconcile()
    scene.reconcile()
    assert scene.state_of(instance) == "running"


def test_no_registration_is_removed_while_another_one_of_the_machine_is_busy(scene: Scene) -> None:
    instance = outlived(scene)
    scene.github.state.put("runners", 9, scope=ORG)
    scene.github.state.put("runners", 10, scope=REPO, name=f"again-{instance}", busy=True)
    scene.reconcile()
    scene.reconcile()
    assert scene.state_of(instance) == "running"
    assert {9, 10} <= scene.github.state.runners.keys()


def test_a_busy_runner_whose_name_contains_no_id_may_be_any_machine_so_none_is_stopped(scene: Scene) -> None:
    ours = scene.start_instance()
    scene.github.state.put("runners", 10, scope=ORG, name="builder-7", busy=True)
    scene.receive(IN_PROGRESS, 1, **RAN, runner_name="builder-7")
    scene.on_github(1, "in_progress", **RAN)
    scene.reconcile()
    assert scene.reconcile()["summary"]["postponed"] == 1
    assert scene.state_of(ours) == "running"
    scene.github.state.put("runners", 10, scope=ORG, name="builder-7", busy=False, status="offline")
    scene.reconcile()
    assert scene.state_of(ours) == "terminated"


def test_a_runner_that_takes_a_job_after_it_was_suspected_is_left_alone(scene: Scene) -> None:
    instance = outlived(scene)
    scene.reconcile()
    later = RAN | {"started_at": ago(minutes=20)}
    scene.receive(IN_PROGRESS, 2, **later, runner_name=f"runner--{instance}")
    scene.world.invoke("runner_lookup", {"Records": scene.world.waiting("lookups")})
    assert scene.runner(instance)["job_id"] == 2
    scene.on_github(2, "in_progress", **later)
    scene.reconcile()
    assert scene.state_of(instance) == "running"
    assert "suspected_at" not in scene.runner(instance)


def test_a_young_runner_is_not_suspected(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORPHAN_GRACE_MINUTES", "10")
    outlived(scene)
    assert scene.reconcile()["summary"]["orphans"] == 0


def test_a_machine_of_ours_without_a_job_is_an_orphan_and_a_foreign_one_is_not(scene: Scene) -> None:
    scene.receive(COMPLETED, 1, completed_at=ago(minutes=30))  # so that the pass has an installation
    ours, foreign = scene.start_instance(), scene.start_instance(tags={"runner": "no"})
    first = scene.reconcile()
    assert first["summary"]["orphans_detected"] == 1
    assert scene.runner(ours)["suspected_reason"] == "no_job"
    scene.reconcile()
    assert (scene.state_of(ours), scene.state_of(foreign)) == ("terminated", "running")


def test_a_foreign_machine_that_runs_our_job_is_never_stopped(scene: Scene) -> None:
    foreign = scene.start_instance(tags={})
    scene.launch(1, foreign)
    scene.receive(COMPLETED, 1, **RAN, runner_name=f"runner--{foreign}", completed_at=ago(minutes=30))
    for _ in range(3):
        assert scene.reconcile()["summary"]["orphans"] == 0
    assert scene.state_of(foreign) == "running"


def test_a_mapping_whose_instance_is_gone_is_cleaned_and_its_job_checked(scene: Scene) -> None:
    instance = scene.start_instance()
    scene.launch(1, instance)
    scene.receive(IN_PROGRESS, 1, **RAN, runner_name=f"runner--{instance}")
    scene.on_github(1, "completed", **RAN, conclusion="failure", completed_at=ago(minutes=5))
    scene.world.client("ec2").terminate_instances(InstanceIds=[instance])
    assert scene.reconcile("quick")["summary"]["stale_mappings"] == 1
    scene.reconcile("quick")
    assert (scene.runner(instance)["status"], scene.runner(instance)["terminated_reason"]) == (
        *("cleaned",),
        "reconciled: instance_gone",
    )
    assert "runner_terminated" in [line["event_type"] for line in scene.history(1)]
    scene.reconcile()
    assert scene.job(1)["conclusion"] == "failure"


def test_a_stopped_instance_is_not_terminated_but_its_mapping_is_cleaned(scene: Scene) -> None:
    instance = scene.start_instance()
    scene.launch(1, instance)
    scene.receive(COMPLETED, 1, **RAN, runner_name=f"runner--{instance}", completed_at=ago(minutes=30))
    scene.world.client("ec2").stop_instances(InstanceIds=[instance])
    scene.reconcile("quick")
    text = scene.reconcile("quick")["text"]
    assert (scene.runner(instance)["status"], scene.state_of(instance)) == ("cleaned", "stopped")
    assert f"runner {instance}: instance_stopped; {CleanupOutcome.STOPPED}" in text


def test_a_task_whose_mapping_is_stale_is_cleaned_too(scene: Scene) -> None:
    scene.launch(1, TASK, kind="ecs")
    scene.world.invoke("instance_state", batch(task_state("RUNNING")))
    scene.reconcile("quick")
    scene.reconcile("quick")
    assert scene.runner(TASK)["status"] == "cleaned"


def test_a_machine_that_aws_has_never_confirmed_is_not_taken_for_gone(scene: Scene) -> None:
    scene.launch(1, TASK, kind="ecs")
    scene.launch(2, "i-0fffffffffffffff0")
    assert scene.reconcile()["summary"]["stale_mappings"] == 0
    assert scene.runner(TASK)["status"] == scene.runner("i-0fffffffffffffff0")["status"] == "active"


def test_without_an_app_no_runner_is_known_to_be_idle_so_it_stays(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = outlived(scene)
    none = scene.world.secrets.create_secret(Name="none", SecretString="{}")["ARN"]
    monkeypatch.setenv("GITHUB_APP", none)
    scene.reconcile()
    response = scene.reconcile()
    assert (response["summary"]["postponed"], scene.state_of(instance)) == (1, "running")
    assert scene.runner(instance)["status"] == "active"


def test_foreign_instances_are_no_active_mappings(scene: Scene) -> None:
    foreign, ours = scene.start_instance(tags={}), scene.start_instance()
    for instance in (foreign, ours):
        scene.world.invoke("instance_state", batch(instance_state("running", runner_id=instance)))
    first, second = scene.reconcile()["summary"], scene.reconcile()["summary"]
    assert (first["active_runners"], first["living_instances"]) == (0, 1)  # its tags make it a runner in this pass
    assert (second["active_runners"], second["living_instances"]) == (1, 1)


def test_a_machine_whose_tags_were_removed_is_no_active_mapping(scene: Scene) -> None:
    instance = scene.start_instance()
    scene.reconcile()
    assert scene.runner(instance)["status"] == "active"
    scene.world.client("ec2").delete_tags(Resources=[instance], Tags=[{"Key": name} for name in TAGGED])
    summary = scene.reconcile()["summary"]
    assert (summary["active_runners"], summary["living_instances"]) == (0, 0)
    assert scene.state_of(instance) == "running"


@pytest.mark.parametrize(
    "tag",
    [
        pytest.param({"ghr:created_by": "pool-lambda"}, id="an idle pool of terraform-aws-github-runner"),
        pytest.param({"static": "builder"}, id="a tag of the setting with any value"),
        pytest.param({"ghr:bypass-removal": "true"}, id="the launcher's own mark"),
    ],
)
def test_machines_of_idle_pools_and_static_runners_are_no_orphans(scene: Scene, tag: dict[str, str]) -> None:
    scene.receive(COMPLETED, 1, completed_at=ago(minutes=30))
    kept, orphan = scene.start_instance(TAGGED | tag), scene.start_instance(TAGGED | {"ghr:created_by": "scale-up"})
    assert scene.reconcile()["summary"]["orphans"] == 1
    scene.reconcile()
    assert (scene.state_of(kept), scene.state_of(orphan)) == ("running", "terminated")
