"""A stranger's registration under a machine's id doesn't replace the search for runners of other installations."""

import pytest

from tests.security.machines import ownerless, reconcile
from tests.support.reconciler_scene import Scene
from tests.support.stranger import Stranger
from tests.support.webhooks import REPO


@pytest.mark.parametrize("name", ["execution-7", "gha-" + "0a" * 16])
def test_an_idle_decoy_does_not_hide_an_idle_runner_of_another_installation(scene: Scene, name: str) -> None:
    """The idle runner may be the machine: its registration stays, so a job may start before the machine is stopped."""
    mallory = Stranger(scene)
    instance = ownerless(scene)
    scene.github.state.put("runners", 9, scope=REPO, name=name, busy=False)
    scene.github.state.put("runners", 660, scope=mallory.repo, name=f"x-{instance}", busy=False)
    response = reconcile(scene)
    assert scene.state_of(instance) == "running"
    assert "its name contains no machine's id" in response["text"]


def test_beside_the_registration_of_the_machine_an_idle_runner_of_the_same_installation_is_another_machine(
    scene: Scene,
) -> None:
    Stranger(scene)
    instance = ownerless(scene)
    scene.github.state.put("runners", 9, scope=REPO, name="execution-7", busy=False)
    scene.github.state.put("runners", 10, scope=REPO, name=f"runner--{instance}", busy=False)
    reconcile(scene)
    assert scene.state_of(instance) == "terminated"
    assert 9 in scene.github.state.runners
