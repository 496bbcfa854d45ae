"""A publisher that is limited to one installation gets no machine of another one stopped, shown or described."""

import json

import pytest
from runledger.runners.fleet import Fleet

from tests.security.machines import look_up, ownerless, reconcile
from tests.support.beds import items
from tests.support.ledgers import RUNNERS
from tests.support.reconciler_scene import TAGGED, Scene, ago
from tests.support.runner_events import ACCOUNT, batch, instance_state
from tests.support.stranger import INSTALLATION as STRANGER
from tests.support.stranger import Stranger
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, QUEUED, REPO

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
    response = reconcile(scene)
    assert scene.state_of(instance) == "running"
    assert "its name contains no machine's id" in response["text"]


def test_an_unlimited_publisher_makes_a_machine_known(scene: Scene) -> None:
    instance = ownerless(scene)
    scene.github.state.put("runners", 9, scope=REPO, name=f"runner-{NO_SUCH_MACHINE}", busy=True)
    scene.launch(2, NO_SUCH_MACHINE)
    reconcile(scene)
    assert scene.state_of(instance) == "terminated"


def idle_machine(scene: Scene, mallory: Stranger, *, tags: dict[str, str] = TAGGED) -> str:
    """The victim's, idle in a warm pool. Mallory's launcher reports it for a job of theirs, which is over."""
    ownerless(scene)
    instance = scene.start_instance(tags)
    scene.github.state.put("runners", 9, scope=REPO, name=f"runner--{instance}", busy=False)
    mallory.webhook(IN_PROGRESS, 6662)
    mallory.publish("runner_scheduled", instance)
    mallory.webhook(COMPLETED, 6662, completed_at=ago(minutes=30))
    return instance


def test_a_limited_operator_sees_no_machine_that_only_a_limited_publisher_reported(
    scene: Scene, mallory: Stranger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORPHANS", "report")
    instance = idle_machine(scene, mallory)
    reconcile(scene)
    response = scene.reconcile(clean=instance, requested_by="token:limited", installations=[STRANGER])
    assert "isn't a suspected orphan" in response["text"]
    assert scene.state_of(instance) == "running"
    assert 9 in scene.github.state.runners


def test_a_registration_with_another_installation_contests_the_machine(scene: Scene, mallory: Stranger) -> None:
    instance = idle_machine(scene, mallory)
    response = reconcile(scene)
    assert scene.state_of(instance) == "running"
    assert 9 in scene.github.state.runners
    runner = scene.runner(instance)
    assert (runner["installation_id"], runner["contested_by"]) == (STRANGER, INSTALLATION)
    assert not {"suspected_at", "cleaning_owner", "cleaning_since"} & runner.keys()
    assert (runner["status"], response["summary"]["contested_runners"]) == ("active", 1)


def test_a_decoy_of_another_installation_is_not_removed_with_the_owners_registration(
    scene: Scene, mallory: Stranger
) -> None:
    """The provisional owner's machine: both registrations stay, and so does the machine."""
    instance = ownerless(scene)
    ran = {"started_at": ago(minutes=45), "runner_id": 9, "runner_name": f"runner--{instance}"}
    scene.receive(IN_PROGRESS, 2, **ran)
    look_up(scene)
    scene.receive(COMPLETED, 2, **ran, completed_at=ago(minutes=31))
    scene.github.state.put("runners", 9, scope=REPO, name=f"runner--{instance}", busy=False)
    scene.github.state.put("runners", 660, scope=mallory.repo, name=f"x-{instance}", busy=False)
    reconcile(scene)
    assert scene.state_of(instance) == "running"
    assert {9, 660} <= scene.github.state.runners.keys()


@pytest.mark.parametrize("event", ["runner_scheduled", "runner_attached", "runner_terminated"])
@pytest.mark.parametrize("repo", [None, REPO], ids=["their repository", "the victim's repository"])
def test_a_limited_publisher_reports_no_machine_that_is_tagged_for_another_owner(
    scene: Scene, mallory: Stranger, event: str, repo: str | None
) -> None:
    instance = scene.start_instance(TAGGED | {"ghr:Owner": OWNER})
    mallory.webhook(IN_PROGRESS, 6662)
    before = mallory.job(6662)
    assert mallory.publish(event, instance, **({"repo_full_name": repo} if repo else {}))["batchItemFailures"]
    assert mallory.job(6662) == before
    assert instance not in {item["PK"] for item in items(scene.world.dynamodb, RUNNERS)}


@pytest.mark.parametrize("tag", ["mallory", "Mallory", "mallory/prank"])
def test_a_limited_publisher_reports_a_machine_that_is_tagged_for_its_own_installation(
    scene: Scene, mallory: Stranger, tag: str
) -> None:
    instance = scene.start_instance(TAGGED | {"ghr:Owner": tag})
    mallory.webhook(IN_PROGRESS, 6662)
    assert not mallory.publish("runner_scheduled", instance)["batchItemFailures"]
    assert mallory.job(6662)["instance_id"] == instance


def test_a_publisher_without_limits_reports_without_a_look_at_the_machine(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event of a launcher costs no call to EC2."""
    monkeypatch.setattr(Fleet, "find", lambda *_: pytest.fail("EC2 was called"))
    scene.launch(1, "i-0123456789abcdef0")
    assert scene.job(1)["instance_id"] == "i-0123456789abcdef0"


def test_a_report_about_a_machine_without_an_owner_interrupts_no_job(scene: Scene, mallory: Stranger) -> None:
    """The machine went away after its job, and the job's lookup is late."""
    instance = scene.start_instance(TAGGED)
    ran = {"started_at": ago(minutes=45), "runner_id": 9, "runner_name": f"runner--{instance}"}
    scene.receive(QUEUED, 1)
    scene.receive(IN_PROGRESS, 1, **ran)
    scene.receive(COMPLETED, 1, **ran, completed_at=ago(minutes=5), conclusion="failure")
    scene.world.client("ec2").terminate_instances(InstanceIds=[instance])
    stopped = instance_state("shutting-down", runner_id=instance) | {"time": ago(minutes=4)}
    scene.world.invoke("instance_state", batch(stopped))
    assert not mallory.publish("runner_terminated", instance, at=ago(minutes=30))["batchItemFailures"]
    look_up(scene)
    assert not scene.job(1).get("was_interrupted")
