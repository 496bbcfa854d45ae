"""A runner that registers after its pass has listed the runners keeps its machine alive, wherever it registers."""

from typing import Any

import pytest
from runledger_github.registrations import Registrations

from tests.security.machines import busy_machine, ownerless, reconcile
from tests.support.reconciler_scene import TAGGED, Scene, ago
from tests.support.stranger import Stranger
from tests.support.webhooks import COMPLETED, REPO

OWNER = REPO.partition("/")[0]


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What registers after the search of each cleanup."""
    registers: list[Any] = []
    real = Registrations.search

    def search(self: Registrations, *arguments: Any, **options: Any) -> None:
        real(self, *arguments, **options)
        for register in registers:
            register()

    monkeypatch.setattr(Registrations, "search", search)
    return registers


@pytest.mark.parametrize("scope", [OWNER, REPO])
@pytest.mark.parametrize("tenants", [1, 2])
@pytest.mark.parametrize("tags", [TAGGED, TAGGED | {"ghr:Owner": OWNER}], ids=["no owner", "owner"])
def test_a_late_registration_keeps_a_machine_without_a_job_alive(
    scene: Scene, late: list[Any], tags: dict[str, str], tenants: int, scope: str
) -> None:
    if tenants > 1:
        Stranger(scene)
    ownerless(scene)
    instance = scene.start_instance(tags)
    late.append(lambda: scene.github.state.put("runners", 9, scope=scope, name=f"runner--{instance}", busy=True))
    reconcile(scene)
    assert scene.state_of(instance) == "running"


def test_a_late_registration_keeps_a_machine_alive_that_a_stranger_claimed_first(scene: Scene, late: list[Any]) -> None:
    instance = ownerless(scene)
    mallory = Stranger(scene)
    mallory.run_job_on(instance)
    late.append(lambda: scene.github.state.put("runners", 9, scope=REPO, name=f"runner--{instance}", busy=True))
    reconcile(scene)
    assert scene.state_of(instance) == "running"


def test_a_late_runner_whose_name_contains_no_id_keeps_a_machine_alive(scene: Scene, late: list[Any]) -> None:
    Stranger(scene)
    instance = ownerless(scene)
    late.append(lambda: scene.github.state.put("runners", 9, scope=REPO, name="builder-7", busy=True))
    reconcile(scene)
    assert scene.state_of(instance) == "running"


@pytest.mark.parametrize("is_new", [False, True], ids=["known repository", "repository created during the pass"])
@pytest.mark.parametrize("tags", [TAGGED, TAGGED | {"ghr:Owner": OWNER}], ids=["no owner", "owner"])
def test_a_machine_that_registers_with_another_repository_of_its_owner_is_kept_alive(
    scene: Scene, late: list[Any], tags: dict[str, str], is_new: bool
) -> None:
    """The repository of its last job is known, and the webhook of its next job is lost."""
    instance = busy_machine(scene, tags=tags)
    del scene.github.state.runners[9]
    scene.receive(COMPLETED, 1, started_at=ago(minutes=45), runner_id=9, completed_at=ago(minutes=31))
    another = f"{OWNER}/another"
    if not is_new:
        scene.github.state.put("runs", 2, repository=another)

    def register() -> None:
        scene.github.state.put("runs", 2, repository=another)
        scene.github.state.put("runners", 10, scope=another, name=f"runner--{instance}", busy=True)

    late.append(register)
    reconcile(scene)
    assert scene.state_of(instance) == "running"


def test_without_a_late_registration_the_machine_is_stopped(scene: Scene) -> None:
    Stranger(scene)
    instance = ownerless(scene)
    reconcile(scene)
    assert scene.state_of(instance) == "terminated"
