"""A machine that runs without registering, while its job awaits a runner: suspected, stopped and replaced."""

from typing import Any

import pytest
from runledger_github.registrations import Registrations

from tests.support.reconciler_scene import ORG, Scene, ago, queued
from tests.support.webhooks import INSTALLATION, REPO


@pytest.fixture
def unregistered(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> str:
    """A machine that was launched for a queued job, and should have registered by now."""
    monkeypatch.setenv("RUNNER_REGISTRATION_MINUTES", "0")
    instance = scene.start_instance()
    queued(scene, 1)
    scene.launch(1, instance)
    return instance


def registered(scene: Scene, instance: str, **about: Any) -> None:
    scene.github.state.put("runners", 9, scope=ORG, name=f"runner--{instance}", **about)


def test_a_machine_that_never_registers_is_suspected_then_stopped_and_another_requested(
    scene: Scene, unregistered: str
) -> None:
    first = scene.reconcile("quick")
    assert scene.runner(unregistered)["suspected_reason"] == "never_registered"
    assert f"runner {unregistered}: never_registered; suspected" in first["text"]
    assert (scene.state_of(unregistered), first["summary"]["orphans"]) == ("running", 1)
    second = scene.reconcile("quick")
    assert (second["summary"]["orphans_cleaned"], scene.state_of(unregistered)) == (1, "terminated")
    assert scene.runner(unregistered)["terminated_reason"] == "orphan: never_registered"
    assert first["summary"]["runners_requested"] == second["summary"]["runners_requested"] == 0
    assert scene.reconcile("quick")["summary"]["runners_requested"] == 1
    job = scene.job(1)
    assert (job["status"], job["runner_requests"]) == ("queued", 1)


def test_in_report_mode_no_second_machine_is_requested_until_the_first_is_stopped(
    scene: Scene, unregistered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORPHANS", "report")
    for _ in range(3):
        response = scene.reconcile()
        assert (response["summary"]["orphans"], response["summary"]["runners_requested"]) == (1, 0)
    assert scene.state_of(unregistered) == "running"
    scene.reconcile(clean=unregistered, requested_by="ada")
    assert scene.state_of(unregistered) == "terminated"
    assert scene.reconcile()["summary"]["runners_requested"] == 1


def test_a_machine_has_the_time_of_the_setting_to_register(
    scene: Scene, unregistered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNNER_REGISTRATION_MINUTES", "10")
    assert scene.reconcile()["summary"]["orphans"] == 0
    assert "suspected_at" not in scene.runner(unregistered)


def test_a_machine_whose_runner_is_registered_is_not_suspected_of_never_registering(
    scene: Scene, unregistered: str
) -> None:
    registered(scene, unregistered)
    for _ in range(2):
        assert scene.reconcile()["summary"]["orphans"] == 0
    assert scene.state_of(unregistered) == "running"


def test_a_just_in_time_registration_that_never_came_online_is_no_registration(scene: Scene, unregistered: str) -> None:
    registered(scene, unregistered, status="offline")
    scene.reconcile()
    scene.reconcile()
    assert scene.state_of(unregistered) == "terminated"
    assert 9 not in scene.github.state.runners


def test_a_just_in_time_registration_that_comes_online_during_the_cleanup_keeps_its_machine_alive(
    scene: Scene, unregistered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered(scene, unregistered, status="offline")
    scene.reconcile()
    search_again = Registrations.search_again

    def search(self: Registrations, *arguments: Any, **options: Any) -> None:
        search_again(self, *arguments, **options)
        registered(scene, unregistered, status="online")

    monkeypatch.setattr(Registrations, "search_again", search)
    response = scene.reconcile()
    assert scene.state_of(unregistered) == "running"
    assert 9 in scene.github.state.runners
    assert f"{unregistered} has come online on GitHub" in response["text"]
    scene.reconcile()
    assert scene.runner(unregistered)["suspicion_cleared_reason"] == "registered"


def test_a_machine_that_registers_after_it_was_suspected_is_not_stopped(scene: Scene, unregistered: str) -> None:
    scene.reconcile()
    registered(scene, unregistered)
    scene.reconcile()
    runner = scene.runner(unregistered)
    assert (scene.state_of(unregistered), runner["suspicion_cleared_reason"]) == ("running", "registered")
    assert "suspected_at" not in runner
    assert 9 in scene.github.state.runners


def test_a_person_cannot_stop_a_machine_that_has_registered_since_it_was_suspected(
    scene: Scene, unregistered: str
) -> None:
    scene.reconcile()
    registered(scene, unregistered)
    response = scene.reconcile(clean=unregistered, requested_by="ada")
    assert "not cleaned: this runner has registered with GitHub" in response["text"]
    assert scene.state_of(unregistered) == "running"


@pytest.mark.parametrize(
    "on_github",
    [
        pytest.param({"status": "in_progress", "started_at": ago(seconds=20)}, id="its job has just started"),
        pytest.param({"status": "waiting"}, id="its job waits for an approval"),
        pytest.param({"status": "pending"}, id="its job waits for its concurrency group"),
    ],
)
def test_a_machine_whose_job_awaits_no_runner_on_github_is_not_suspected(
    scene: Scene, unregistered: str, on_github: dict[str, Any]
) -> None:
    scene.on_github(1, **on_github)
    assert scene.reconcile("quick")["summary"]["orphans"] == 0
    assert "suspected_at" not in scene.runner(unregistered)


def test_without_a_complete_search_no_machine_is_suspected_of_never_registering(
    scene: Scene, unregistered: str
) -> None:
    scene.github.state.put("installations", INSTALLATION, repository_selection="selected")
    response = scene.reconcile("quick")
    assert (response["summary"]["orphans"], response["summary"]["postponed"]) == (0, 1)
    assert "suspected_at" not in scene.runner(unregistered)


def test_without_an_app_no_machine_is_suspected_of_never_registering(
    scene: Scene, unregistered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = scene.world.secrets.create_secret(Name="none", SecretString="{}")["ARN"]
    monkeypatch.setenv("GITHUB_APP", none)
    assert scene.reconcile()["summary"]["orphans"] == 0
    assert "suspected_at" not in scene.runner(unregistered)


def test_an_unregistered_machine_beside_a_runner_without_an_id_in_its_name_is_not_suspected(
    scene: Scene, unregistered: str
) -> None:
    scene.github.state.put("runners", 10, scope=REPO, name="builder-7")
    assert scene.reconcile("quick")["summary"]["postponed"] == 1
    assert "suspected_at" not in scene.runner(unregistered)
