"""The cleanup of one orphan, by a pass or a person: what is removed, what is kept, and the result in words."""

import json
from typing import Any

import pytest
from runledger.reconciliation.cleanup import CleanupOutcome
from runledger_github.registrations import Registrations

from tests.support.beds import items
from tests.support.ledgers import RUNNERS
from tests.support.reconciler_scene import ORG, RAN, Scene, ago, outlived
from tests.support.runner_events import ACCOUNT
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, REPO


def test_in_report_mode_nothing_is_stopped(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORPHANS", "report")
    instance = outlived(scene)
    for _ in range(3):
        response = scene.reconcile()
    assert (response["summary"]["orphans"], response["summary"]["orphans_cleaned"]) == (1, 0)
    assert scene.state_of(instance) == "running"


def test_a_person_may_clean_an_orphan_in_report_mode_too(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORPHANS", "report")
    instance = outlived(scene)
    scene.reconcile()
    response = scene.reconcile(clean=instance, id="requested", requested_by="ada")
    assert (response["id"], response["summary"]["orphans_cleaned"]) == ("requested", 1)
    assert scene.state_of(instance) == "terminated"


@pytest.mark.parametrize(
    ("busy", "result"),
    [(False, "Cleaned: the machine was terminated"), (True, "Not cleaned: GitHub reports this runner as busy")],
)
def test_the_result_of_a_cleanup_is_stored_as_a_sentence(scene: Scene, busy: bool, result: str) -> None:
    instance = outlived(scene, busy=busy)
    scene.reconcile()
    response = scene.reconcile(clean=instance, id="requested", requested_by="ada")
    assert (response["result"], f"Result: {result}" in response["text"]) == (result, True)
    (stored,) = [each for each in items(scene.world.dynamodb, RUNNERS) if each["SK"] == "requested"]
    assert stored["result"] == result


def test_the_result_of_a_cleanup_states_why_it_was_not_possible(scene: Scene) -> None:
    instance = outlived(scene)
    scene.reconcile()
    scene.github.state.add_fault(kind="error", status=500, path="*/runners", times=None)
    response = scene.reconcile(clean=instance, id="requested", requested_by="ada")
    assert response["result"].startswith("Not cleaned: deferred to the next pass: ")


def test_every_outcome_of_a_cleanup_has_a_sentence() -> None:
    assert {outcome.result.partition(":")[0] for outcome in CleanupOutcome} == {"Cleaned", "Not cleaned"}


def test_a_machine_that_is_gone_is_not_counted_as_cleaned_by_a_person_or_a_pass(scene: Scene) -> None:
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


def test_a_registration_with_another_installation_is_not_removed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's account has uninstalled the App and was renamed. Another account has taken its name."""
    limited = {"account": ACCOUNT, "source": "my.launcher", "installations": [INSTALLATION]}
    monkeypatch.setenv("EVENT_PUBLISHERS", json.dumps([limited]))
    instance = scene.start_instance()
    scene.launch(1, instance)
    scene.receive(COMPLETED, 1, **RAN, runner_name="builder-7", completed_at=ago(minutes=30))
    del scene.github.state.installations[INSTALLATION]
    scene.github.state.put("installations", INSTALLATION + 1, account=ORG)
    scene.github.state.put("runners", 9, scope=REPO, name="builder-7", status="offline")
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
