"""A runner's name is a claim, not a proof: nobody gets another owner's machine stopped, taken over or described."""

from typing import Any

import pytest

from tests.functions.reconciling import TAGGED, Scene, ago
from tests.ledgers import RUNNERS
from tests.runner_events import batch, instance_state, launcher
from tests.security.stranger import INSTALLATION as STRANGER
from tests.security.stranger import REPO as STRANGERS_REPO
from tests.security.stranger import Stranger
from tests.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, REPO

OWNER = REPO.partition("/")[0]
DESCRIBED = ("instance_id", "instance_type", "pool_name", "scheduled_at", "price_per_hour")


@pytest.fixture
def mallory(scene: Scene) -> Stranger:
    return Stranger(scene)


def busy_machine(scene: Scene, *, launcher_reports: bool = True, tags: dict[str, str] | None = None) -> str:
    """The victim's, with a job that runs on it."""
    instance = scene.start_instance(TAGGED if tags is None else tags)
    name = f"runner--{instance}"
    if launcher_reports:
        scene.launch(1, instance)
    ran = {"started_at": ago(minutes=45), "runner_id": 9, "runner_name": name}
    scene.hear(IN_PROGRESS, 1, **ran)
    scene.on_github(1, "in_progress", **ran)
    scene.github.state.put("runners", 9, scope=REPO, name=name, busy=True)
    look_up(scene)
    return instance


def look_up(scene: Scene) -> None:
    for message in scene.world.waiting("lookups"):
        scene.world.invoke("runner_lookup", {"Records": [message]})


def reconcile(scene: Scene, times: int = 3) -> dict[str, Any]:
    for _ in range(times):
        answer = scene.reconcile("full")
    return answer


@pytest.mark.parametrize("launcher_reports", [True, False], ids=["reported by its launcher", "known by its name"])
def test_a_stranger_that_claims_a_busy_machine_gets_it_neither_stopped_nor_described(
    scene: Scene, mallory: Stranger, launcher_reports: bool
) -> None:
    instance = busy_machine(scene, launcher_reports=launcher_reports)
    mallory.run_job_on(instance)
    reconcile(scene)
    assert scene.state_of(instance) == "running"
    assert not [name for name in DESCRIBED if name in mallory.job()]
    runner = scene.runner(instance)
    assert (runner["installation_id"], runner["repo_full_name"], runner["job_id"]) == (INSTALLATION, REPO, 1)


def test_a_stranger_that_claims_first_does_not_get_the_victims_machine_stopped(scene: Scene, mallory: Stranger) -> None:
    instance = scene.start_instance()
    mallory.run_job_on(instance)
    assert scene.runner(instance)["installation_id"] == STRANGER
    scene.github.state.put("runners", 9, scope=REPO, name=f"runner--{instance}", busy=True)
    scene.hear(IN_PROGRESS, 1, started_at=ago(minutes=45), runner_id=9, runner_name="unrelated")
    reconcile(scene)
    assert scene.state_of(instance) == "running"


def test_two_claims_make_a_machine_contested_which_is_shown_and_left_alone(scene: Scene, mallory: Stranger) -> None:
    instance = busy_machine(scene, launcher_reports=False)
    scene.github.state.put("runners", 9, busy=False)
    scene.hear(COMPLETED, 1, started_at=ago(minutes=45), runner_id=9, completed_at=ago(minutes=31))
    mallory.run_job_on(instance)
    answer = reconcile(scene)
    assert (answer["summary"]["contested_runners"], answer["summary"]["orphans"]) == (1, 0)
    assert f"runner {instance}: contested by installations {INSTALLATION} and {STRANGER}; left alone" in answer["text"]
    assert scene.state_of(instance) == "running"


def test_a_contested_machine_is_described_to_neither_claimant(scene: Scene, mallory: Stranger) -> None:
    instance = busy_machine(scene, launcher_reports=False)
    mallory.run_job_on(instance)
    before = (scene.history(1), mallory.job())
    scene.world.invoke("instance_state", batch(instance_state("terminated", runner_id=instance)))
    assert (scene.history(1), mallory.job()) == before


def test_proof_settles_a_contest(scene: Scene, mallory: Stranger) -> None:
    instance = busy_machine(scene, launcher_reports=False)
    mallory.run_job_on(instance)
    assert "contested_at" in scene.runner(instance)
    scene.launch(1, instance)
    runner = scene.runner(instance)
    assert "contested_at" not in runner
    assert (runner["installation_id"], runner["job_id"], runner["proven_by"]) == (INSTALLATION, 1, "launcher_event")


def test_the_same_job_reported_by_two_hooks_is_no_contest(scene: Scene) -> None:
    instance = busy_machine(scene, launcher_reports=False)
    organisation_hook = Stranger(scene, installation_id=0, repo=REPO)
    organisation_hook.webhook(
        IN_PROGRESS, 1, started_at=ago(minutes=45), runner_id=9, runner_name=f"runner--{instance}"
    )
    look_up(scene)
    assert "contested_at" not in scene.runner(instance)
    assert organisation_hook.job(1)["instance_id"] == instance


def test_an_event_for_another_installation_does_not_take_a_machine_over(scene: Scene, mallory: Stranger) -> None:
    instance = busy_machine(scene)
    before = scene.runner(instance)
    assert mallory.publish("runner_scheduled", instance)["batchItemFailures"]
    assert mallory.publish("runner_terminated", instance)["batchItemFailures"]
    assert mallory.publish("runner_attached", instance)["batchItemFailures"]
    assert scene.runner(instance) == before
    reconcile(scene)
    assert scene.state_of(instance) == "running"


def test_another_repository_of_the_installation_does_not_get_a_busy_machine_stopped(scene: Scene) -> None:
    instance = busy_machine(scene)
    insider = Stranger(scene, installation_id=INSTALLATION, repo=f"{OWNER}/other")
    insider.run_job_on(instance)
    reconcile(scene)
    assert scene.state_of(instance) == "running"


def test_a_tag_that_names_the_owner_beats_every_claim(scene: Scene, mallory: Stranger) -> None:
    instance = scene.start_instance(TAGGED | {"ghr:Owner": OWNER, "ghr:Type": "Org"})
    mallory.run_job_on(instance)
    assert "instance_id" not in mallory.job()
    scene.hear(IN_PROGRESS, 1, started_at=ago(minutes=45), runner_id=9, runner_name=f"runner--{instance}")
    look_up(scene)
    runner = scene.runner(instance)
    assert (runner["installation_id"], runner["job_id"], runner["proven_by"]) == (INSTALLATION, 1, "launcher_tag")
    assert scene.job(1)["instance_id"] == instance


@pytest.mark.parametrize("tags", [{}, {"Name": "database"}, {"runner": "no"}])
def test_a_machine_that_is_no_runner_is_described_to_nobody(
    scene: Scene, mallory: Stranger, tags: dict[str, str]
) -> None:
    instance = scene.start_instance(tags)
    mallory.run_job_on(instance)
    assert not [name for name in DESCRIBED if name in mallory.job()]
    reconcile(scene)
    assert scene.state_of(instance) == "running"


@pytest.mark.parametrize(
    "tags",
    [
        {"ghr:Application": "github-action-runner"},
        {"GitHubRunners:Provider": "stack/provider"},
        {"runs-on-stack-name": "runs-on"},
    ],
    ids=lambda tags: next(iter(tags)),
)
def test_without_runner_tags_the_tags_of_known_launchers_make_a_machine_a_runner(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, tags: dict[str, str]
) -> None:
    monkeypatch.setenv("RUNNER_TAGS", "")
    instance = scene.start_instance(tags)
    scene.hear(IN_PROGRESS, 1, started_at=ago(minutes=45), runner_id=9, runner_name=f"runner--{instance}")
    look_up(scene)
    assert scene.job(1)["instance_id"] == instance


def test_a_name_that_resembles_an_id_names_no_machine(scene: Scene) -> None:
    scene.hear(IN_PROGRESS, 1, started_at=ago(minutes=45), runner_id=9, runner_name="ci-i-7f3e2a90")
    look_up(scene)
    assert "instance_id" not in scene.job(1)
    assert not [each for each in scene.world.dynamodb.scan(TableName=RUNNERS)["Items"] if "job_id" in each]


def idle_orphan(scene: Scene, tags: dict[str, str]) -> str:
    """Its job is over, and GitHub lists it as idle."""
    instance = scene.start_instance(TAGGED | tags)
    scene.launch(1, instance)
    name = f"runner--{instance}"
    scene.hear(COMPLETED, 1, started_at=ago(minutes=50), runner_id=9, runner_name=name, completed_at=ago(minutes=30))
    scene.github.state.put("runners", 9, scope=REPO, name=name)
    return instance


def test_a_machine_that_is_marked_to_be_kept_is_never_stopped(scene: Scene) -> None:
    kept = idle_orphan(scene, {"ghr:bypass-removal": "true"})
    reconcile(scene)
    assert scene.state_of(kept) == "running"
    scene.world.client("ec2").create_tags(Resources=[kept], Tags=[{"Key": "ghr:bypass-removal", "Value": "false"}])
    reconcile(scene)
    assert scene.state_of(kept) == "terminated"


def test_a_tag_and_an_event_that_name_different_owners_keep_a_machine_alive(scene: Scene, mallory: Stranger) -> None:
    mallory.webhook(IN_PROGRESS, 6661)  # so that the installation of mallory is registered
    instance = idle_orphan(scene, {"ghr:Owner": STRANGERS_REPO})
    assert reconcile(scene)["summary"]["postponed"] == 1
    assert scene.state_of(instance) == "running"


def suspended(scene: Scene) -> None:
    scene.github.state.put("installations", INSTALLATION, suspended_at=ago(days=1))


def refused(scene: Scene) -> None:
    scene.github.state.add_fault(kind="error", status=403, path="/orgs/*/actions/runners", times=None)


def hidden(scene: Scene) -> None:
    scene.github.state.add_fault(kind="error", status=404, path="/repos/*/actions/runners", times=None)


def unlisted(scene: Scene) -> None:
    scene.github.state.add_fault(kind="error", status=403, path="/installation/repositories", times=None)


@pytest.mark.parametrize("trouble", [suspended, refused, hidden, unlisted])
def test_a_machine_is_not_stopped_while_one_scope_of_its_owner_cannot_answer(scene: Scene, trouble: Any) -> None:
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
    scene.hear(IN_PROGRESS, 1)
    mallory.webhook(IN_PROGRESS, 6661)
    instance = scene.start_instance()
    scene.github.state.put("installations", STRANGER, suspended_at=ago(days=1))
    answer = reconcile(scene)
    assert scene.state_of(instance) == "running"
    assert f"installation {STRANGER} is suspended" in answer["text"]


def test_a_launchers_word_that_a_living_machine_is_gone_concludes_nothing(scene: Scene) -> None:
    instance = busy_machine(scene)
    scene.launch(1, instance)
    answer = scene.world.invoke("scheduling_events", batch(terminated(instance) | {"time": ago(minutes=5)}))
    assert answer == {"batchItemFailures": []}
    assert scene.runner(instance)["status"] == "active"
    assert "terminated_at" not in scene.job(1)
    assert scene.history(1)[-1]["action"] == "reported by the launcher"


def test_a_launchers_word_on_a_machine_that_ec2_never_confirmed_concludes_nothing(scene: Scene) -> None:
    elsewhere = "i-0fffffffffffffff0"
    scene.launch(1, elsewhere)
    scene.world.invoke("scheduling_events", batch(terminated(elsewhere) | {"time": ago(minutes=5)}))
    reconcile(scene)
    assert scene.runner(elsewhere)["status"] == "active"
    assert "terminated_at" not in scene.job(1)


def test_a_launchers_word_counts_once_ec2_agrees(scene: Scene) -> None:
    instance = busy_machine(scene)
    scene.world.client("ec2").terminate_instances(InstanceIds=[instance])
    scene.world.invoke("scheduling_events", batch(terminated(instance) | {"time": ago(minutes=5)}))
    assert scene.runner(instance)["status"] == "cleaned"
    assert "terminated_at" in scene.job(1)


def terminated(instance_id: str) -> dict[str, Any]:
    return launcher("runner_terminated", runner_id=instance_id)
