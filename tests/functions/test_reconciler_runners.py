"""Orphans are suspected in one pass and cleaned in a later one; busy machines are never changed."""

from typing import Any

import pytest
from runledger.reconciliation.cleanup import CleanupOutcome
from runledger_github.registrations import Registrations

from tests.functions.reconciling import ORG, TAGGED, Scene, ago
from tests.support.beds import items
from tests.support.ledgers import RUNNERS
from tests.support.runner_events import TASK, batch, instance_state, task_state
from tests.support.webhooks import COMPLETED, IN_PROGRESS, REPO

RAN = {"started_at": ago(minutes=50), "runner_id": 9}


def outlived(scene: Scene, job_id: int = 1, **github: Any) -> str:
    """A machine whose job is completed, and that was not stopped."""
    instance = scene.start_instance()
    name = f"runner--{instance}"
    scene.launch(job_id, instance)
    scene.receive(COMPLETED, job_id, **RAN, runner_name=name, completed_at=ago(minutes=30))
    scene.github.state.put("runners", 9, scope=REPO, name=name, **github)
    return instance


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


def test_in_report_mode_nothing_is_stopped(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORPHANS", "report")
    instance = outlived(scene)
    for _ in range(3):
        answer = scene.reconcile()
    assert (answer["summary"]["orphans"], answer["summary"]["orphans_cleaned"]) == (1, 0)
    assert scene.state_of(instance) == "running"


def test_a_person_may_clean_an_orphan_in_report_mode_too(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORPHANS", "report")
    instance = outlived(scene)
    scene.reconcile()
    answer = scene.reconcile(clean=instance, id="asked-for", requested_by="ada")
    assert (answer["id"], answer["summary"]["orphans_cleaned"]) == ("asked-for", 1)
    assert scene.state_of(instance) == "terminated"


@pytest.mark.parametrize(
    ("busy", "result"),
    [(False, "Cleaned: the machine was stopped"), (True, "Not cleaned: GitHub reports this runner as busy")],
)
def test_the_result_of_a_cleanup_is_stored_as_a_sentence(scene: Scene, busy: bool, result: str) -> None:
    instance = outlived(scene, busy=busy)
    scene.reconcile()
    answer = scene.reconcile(clean=instance, id="asked-for", requested_by="ada")
    assert (answer["result"], f"Result: {result}" in answer["text"]) == (result, True)
    (stored,) = [each for each in items(scene.world.dynamodb, RUNNERS) if each["SK"] == "asked-for"]
    assert stored["result"] == result


def test_the_result_of_a_cleanup_states_why_it_was_not_possible(scene: Scene) -> None:
    instance = outlived(scene)
    scene.reconcile()
    scene.github.state.add_fault(kind="error", status=500, path="*/runners", times=None)
    answer = scene.reconcile(clean=instance, id="asked-for", requested_by="ada")
    assert answer["result"].startswith("Not cleaned: deferred to the next pass: ")


def test_every_outcome_of_a_cleanup_has_a_sentence() -> None:
    assert {outcome.result.partition(":")[0] for outcome in CleanupOutcome} == {"Cleaned", "Not cleaned"}


def test_a_busy_runner_is_acquitted(scene: Scene) -> None:
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


def test_a_machine_that_is_busy_under_an_unrecorded_name_is_acquitted(scene: Scene) -> None:
    instance = outlived(scene)
    scene.github.state.put("runners", 10, scope=ORG, name=f"again-{instance}", busy=True)
    scene.reconcile()
    scene.reconcile()
    assert scene.state_of(instance) == "running"


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
    scene.receive(COMPLETED, 1, completed_at=ago(minutes=30))  # so that there is an installation to ask
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
    scene.reconcile("quick")
    assert (scene.runner(instance)["status"], scene.state_of(instance)) == ("cleaned", "stopped")


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
    answer = scene.reconcile()
    assert (answer["summary"]["postponed"], scene.state_of(instance)) == (1, "running")
    assert scene.runner(instance)["status"] == "active"


def test_forgetting_a_machine_that_is_gone_counts_as_little_for_a_person_as_for_a_pass(scene: Scene) -> None:
    gone = [scene.start_instance(), scene.start_instance()]
    for job_id, instance in enumerate(gone, start=1):
        scene.launch(job_id, instance)
        scene.receive(COMPLETED, job_id, **RAN, runner_name=f"runner--{instance}", completed_at=ago(minutes=30))
    scene.reconcile("quick")
    scene.world.client("ec2").terminate_instances(InstanceIds=gone)
    scene.reconcile("quick")
    by_person = scene.reconcile(clean=gone[0], requested_by="ada")
    by_pass = scene.reconcile("quick")
    assert [scene.runner(each)["status"] for each in gone] == ["cleaned", "cleaned"]
    assert by_person["summary"]["orphans_cleaned"] == by_pass["summary"]["orphans_cleaned"] == 0


def test_foreign_instances_are_no_active_mappings(scene: Scene) -> None:
    foreign, ours = scene.start_instance(tags={}), scene.start_instance()
    for instance in (foreign, ours):
        scene.world.invoke("instance_state", batch(instance_state("running", runner_id=instance)))
    first, second = scene.reconcile()["summary"], scene.reconcile()["summary"]
    assert (first["active_runners"], first["living_instances"]) == (0, 1)  # its tags make it a runner in this pass
    assert (second["active_runners"], second["living_instances"]) == (1, 1)


@pytest.mark.parametrize("launched", [True, False], ids=["owner and repository known", "unknown owner"])
def test_runners_are_listed_twice_in_a_pass_and_again_right_before_each_stop(scene: Scene, launched: bool) -> None:
    repos = [f"{ORG}/repo-{number}" for number in range(20)]
    for number, repo in enumerate(repos):
        scene.github.state.put("runs", 1000 + number, repository=repo)
        scene.github.state.put("runners", 100 + number, scope=repo, name=f"runner--i-{number:017x}", busy=True)
    scene.receive(COMPLETED, 1, completed_at=ago(minutes=30))
    orphans = [scene.start_instance() for _ in range(5)]
    for instance in orphans if launched else ():
        scene.launch(1, instance, repo_full_name=REPO)
    scene.reconcile()
    before = scene.calls("/actions/runners")
    assert scene.reconcile()["summary"]["orphans_cleaned"] == len(orphans)
    scopes, near = {ORG, REPO, *repos}, {ORG, REPO}
    # All scopes are listed twice, for all machines together, and those near a machine once more before it is stopped.
    assert scene.calls("/actions/runners") - before <= 2 * len(scopes) + len(orphans) * len(near)


def test_a_registration_of_another_repository_with_the_same_name_and_id_is_not_removed(scene: Scene) -> None:
    instance = scene.start_instance()
    scene.launch(1, instance)
    scene.receive(COMPLETED, 1, **RAN, runner_name="builder-7", completed_at=ago(minutes=30))
    scene.github.state.put("runners", 9, scope=f"{ORG}/other", name="builder-7", status="offline")
    for _ in range(3):
        scene.reconcile()
    assert scene.state_of(instance) == "terminated"
    assert 9 in scene.github.state.runners


@pytest.mark.parametrize(("name", "number"), [("builder-7", 10), ("builder-8", 9)])
def test_a_registration_with_the_same_name_or_the_same_id_is_not_removed(scene: Scene, name: str, number: int) -> None:
    instance = scene.start_instance()
    scene.launch(1, instance)
    scene.receive(COMPLETED, 1, **RAN, runner_name="builder-7", completed_at=ago(minutes=30))
    scene.github.state.put("runners", number, scope=REPO, name=name, status="offline")
    for _ in range(3):
        scene.reconcile()
    assert scene.state_of(instance) == "terminated"
    assert number in scene.github.state.runners


def test_a_machine_that_is_marked_to_be_kept_during_the_search_is_left_alone(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = outlived(scene)
    real = Registrations.search

    def marked_meanwhile(self: Registrations, *arguments: Any, **options: Any) -> None:
        real(self, *arguments, **options)
        mark = [{"Key": "ghr:bypass-removal", "Value": "true"}]
        scene.world.client("ec2").create_tags(Resources=[instance], Tags=mark)

    monkeypatch.setattr(Registrations, "search", marked_meanwhile)
    for _ in range(3):
        scene.reconcile()
    assert scene.state_of(instance) == "running"
    assert 9 in scene.github.state.runners


def test_a_machine_that_gets_a_job_while_it_is_taken_off_github_is_left_alone(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = outlived(scene)
    del scene.github.state.runners[9]
    real = Registrations.remove

    def taken_meanwhile(self: Registrations, *arguments: Any, **options: Any) -> bool:
        removed = real(self, *arguments, **options)
        scene.receive(IN_PROGRESS, 2, started_at=ago(minutes=1), runner_id=11, runner_name=f"again--{instance}")
        scene.world.invoke("runner_lookup", {"Records": scene.world.waiting("lookups")})
        return removed

    scene.reconcile()
    monkeypatch.setattr(Registrations, "remove", taken_meanwhile)
    scene.reconcile()
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
