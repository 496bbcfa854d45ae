"""A publisher that is limited to one installation gets no machine of another one stopped, shown or described."""

import json

import pytest

from tests.functions.reconciling import TAGGED, Scene, ago
from tests.runner_events import ACCOUNT
from tests.security.stranger import INSTALLATION as STRANGER
from tests.security.stranger import Stranger
from tests.security.test_machines import ownerless, reconcile
from tests.webhooks import COMPLETED, INSTALLATION, REPO

OWNER = REPO.partition("/")[0]
NO_SUCH_MACHINE = "i-1a2b3c4d"


@pytest.fixture
def mallory(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Stranger:
    """Their launcher may report about their own installation, and nothing else."""
    limited = {"account": ACCOUNT, "source": "my.launcher", "installations": [STRANGER]}
    trusted = {"account": ACCOUNT, "source": "trusted.launcher", "installations": "*"}
    monkeypatch.setenv("EVENT_PUBLISHERS", json.dumps([limited, trusted]))
    return Stranger(scene)


@pytest.mark.parametrize("name", [f"c{NO_SUCH_MACHINE}", f"runner-{NO_SUCH_MACHINE}"])
@pytest.mark.parametrize("event", ["runner_scheduled", "runner_attached"])
def test_a_limited_publisher_makes_no_machine_known(scene: Scene, mallory: Stranger, event: str, name: str) -> None:
    instance = ownerless(scene)
    scene.github.state.put("runners", 9, scope=REPO, name=name, busy=True)
    assert not mallory.publish(event, NO_SUCH_MACHINE)["batchItemFailures"]
    answer = reconcile(scene)
    assert scene.state_of(instance) == "running"
    assert "its name contains no machine's id" in answer["text"]


def test_an_unlimited_publisher_makes_a_machine_known(scene: Scene) -> None:
    instance = ownerless(scene)
    scene.github.state.put("runners", 9, scope=REPO, name=f"runner-{NO_SUCH_MACHINE}", busy=True)
    scene.launch(2, NO_SUCH_MACHINE)
    reconcile(scene)
    assert scene.state_of(instance) == "terminated"
