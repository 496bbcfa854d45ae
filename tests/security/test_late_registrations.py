"""A runner that registers after its pass has listed the runners keeps its machine alive, wherever it registers."""

from typing import Any

import pytest
from runledger_github.registrations import Registrations

from tests.functions.reconciling import TAGGED, Scene
from tests.security.stranger import Stranger
from tests.security.test_machines import ownerless, reconcile
from tests.support.webhooks import REPO

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


def test_without_a_late_registration_the_machine_is_stopped(scene: Scene) -> None:
    Stranger(scene)
    instance = ownerless(scene)
    reconcile(scene)
    assert scene.state_of(instance) == "terminated"
