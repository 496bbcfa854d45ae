"""A machine is stopped only after every list that may contain its runner was read completely."""

import itertools
from typing import Any

import pytest
from runledger_github.registrations import Registrations

from local.github.messages import Request
from local.github.paging import page_of
from local.github.records import Runner
from tests.security.machines import busy_machine, idle_orphan, ownerless, reconcile
from tests.support.reconciler_scene import Scene, ago
from tests.support.stranger import INSTALLATION as STRANGER
from tests.support.stranger import Stranger
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, REPO


def suspended(scene: Scene) -> None:
    scene.github.state.put("installations", INSTALLATION, suspended_at=ago(days=1))


def refused(scene: Scene) -> None:
    scene.github.state.add_fault(kind="error", status=403, path="/orgs/*/actions/runners", times=None)


def hidden(scene: Scene) -> None:
    scene.github.state.add_fault(kind="error", status=404, path="/repos/*/actions/runners", times=None)


def unlisted(scene: Scene) -> None:
    scene.github.state.add_fault(kind="error", status=403, path="/installation/repositories", times=None)


@pytest.mark.parametrize("trouble", [suspended, refused, hidden, unlisted])
def test_a_machine_is_not_stopped_while_one_scope_of_its_owner_has_no_response(scene: Scene, trouble: Any) -> None:
    instance = idle_orphan(scene, {})
    trouble(scene)
    assert reconcile(scene)["summary"]["orphans_cleaned"] == 0
    assert scene.state_of(instance) == "running"


def test_a_strangers_suspended_installation_blocks_nothing_that_is_proven_to_be_ours(
    scene: Scene, mallory: Stranger
) -> None:
    instance = idle_orphan(scene, {})
    mallory.webhook(IN_PROGRESS, 6661)
    scene.github.state.put("installations", STRANGER, suspended_at=ago(days=1))
    reconcile(scene)
    assert scene.state_of(instance) == "terminated"


def test_a_suspended_installation_keeps_machines_of_unknown_owners_alive_and_is_named(
    scene: Scene, mallory: Stranger
) -> None:
    scene.receive(IN_PROGRESS, 1)
    mallory.webhook(IN_PROGRESS, 6661)
    instance = scene.start_instance()
    scene.github.state.put("installations", STRANGER, suspended_at=ago(days=1))
    response = reconcile(scene)
    assert scene.state_of(instance) == "running"
    assert f"installation {STRANGER} is suspended" in response["text"]


def test_an_idle_decoy_does_not_hide_a_busy_runner_without_an_id_in_its_name(scene: Scene, mallory: Stranger) -> None:
    instance = ownerless(scene)
    scene.github.state.put("runners", 9, scope=REPO, name="execution-7", busy=True)
    scene.github.state.put("runners", 660, scope=mallory.repo, name=f"x-{instance}", busy=False)
    reconcile(scene)
    assert scene.state_of(instance) == "running"
    assert 660 in scene.github.state.runners


@pytest.mark.parametrize("name", ["acme-api-72d3162e-cc78-11e3-81ab-4c9367dc0958", "gha-" + "0a" * 16, "builder-7"])
def test_a_busy_runner_whose_name_only_resembles_an_id_may_be_any_machine(scene: Scene, name: str) -> None:
    instance = ownerless(scene)
    scene.github.state.put("runners", 9, scope=REPO, name=name, busy=True)
    reconcile(scene)
    assert scene.state_of(instance) == "running"


def test_an_idle_runner_that_may_be_the_machine_keeps_it_alive_and_an_offline_one_does_not(scene: Scene) -> None:
    instance = ownerless(scene)
    scene.github.state.put("runners", 9, scope=REPO, name="builder-7", busy=False)
    reconcile(scene)
    assert scene.state_of(instance) == "running"
    scene.github.state.put("runners", 9, status="offline")
    reconcile(scene)
    assert scene.state_of(instance) == "terminated"


def test_a_busy_runner_that_is_named_after_another_machine_holds_nothing_back(scene: Scene) -> None:
    instance = ownerless(scene)
    scene.github.state.put("runners", 9, scope=REPO, name="runner--i-0eeeeeeeeeeeeeee0", busy=True)
    reconcile(scene)
    assert scene.state_of(instance) == "terminated"


def test_an_app_that_sees_selected_repositories_only_stops_nothing(scene: Scene) -> None:
    instance = idle_orphan(scene, {})
    scene.github.state.put("installations", INSTALLATION, repository_selection="selected")
    assert "is limited to selected repositories" in reconcile(scene)["text"]
    assert scene.state_of(instance) == "running"


def test_an_installation_that_has_sent_no_webhook_yet_is_searched_too(scene: Scene, mallory: Stranger) -> None:
    instance = ownerless(scene)
    scene.github.state.put("runners", 660, scope=mallory.repo, name=f"runner--{instance}", busy=True)
    reconcile(scene)
    assert scene.state_of(instance) == "running"


def test_a_list_that_changes_while_it_is_read_leaves_no_busy_runner_out(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time, a runner at the top is removed after the first page, so the busy one is on neither page."""
    instance = idle_orphan(scene, {})
    del scene.github.state.runners[9]
    for number in range(100, 199):
        scene.github.state.put("runners", number, scope=REPO, name=f"x-i-{number:017x}")
    scene.github.state.put("runners", 199, scope=REPO, name=f"runner--{instance}", busy=True)
    numbers = itertools.count(1000)

    def removed_meanwhile(request: Request, found: list[Runner]) -> tuple[list[Runner], dict[str, str]]:
        number = next(numbers)
        short_lived = Runner(id=number, scope=REPO, name=f"x-i-{number:017x}")
        return page_of(request, found if "page" in request.query else [short_lived, *found])

    monkeypatch.setattr("local.github.endpoints.runners.page_of", removed_meanwhile)
    response = reconcile(scene)
    assert scene.state_of(instance) == "running"
    assert "the list of runners changes faster than it can be read" in response["text"]


def test_a_machine_that_registers_again_while_it_is_removed_is_left_alone(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = idle_orphan(scene, {})
    real = Registrations._delete

    def register_again(self: Registrations, *arguments: Any) -> bool:
        scene.github.state.put("runners", 11, scope=REPO, name=f"again--{instance}", busy=True)
        return real(self, *arguments)

    monkeypatch.setattr(Registrations, "_delete", register_again)
    reconcile(scene)
    assert scene.state_of(instance) == "running"


def test_a_machine_that_is_contested_during_the_search_is_left_alone(
    scene: Scene, mallory: Stranger, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = busy_machine(scene, launcher_reports=False)
    scene.receive(COMPLETED, 1, started_at=ago(minutes=45), runner_id=9, completed_at=ago(minutes=31))
    scene.github.state.put("runners", 9, busy=False)
    real = Registrations.search

    def claim_meanwhile(self: Registrations, *arguments: Any, **options: Any) -> None:
        real(self, *arguments, **options)
        mallory.run_job_on(instance)

    monkeypatch.setattr(Registrations, "search", claim_meanwhile)
    reconcile(scene)
    assert scene.state_of(instance) == "running"
