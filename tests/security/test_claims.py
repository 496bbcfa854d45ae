"""A runner's name is a claim, not a proof: no claim gets another owner's machine stopped, taken over or described."""

import pytest

from tests.security.machines import DESCRIBED, OWNER, busy_machine, idle_orphan, look_up, reconcile
from tests.support.ledgers import RUNNERS
from tests.support.reconciler_scene import TAGGED, Scene, ago
from tests.support.runner_events import batch, instance_state
from tests.support.stranger import INSTALLATION as STRANGER
from tests.support.stranger import REPO as STRANGERS_REPO
from tests.support.stranger import Stranger
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, REPO


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
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=45), runner_id=9, runner_name="unrelated")
    reconcile(scene)
    assert scene.state_of(instance) == "running"


def test_two_claims_make_a_machine_contested_which_is_shown_and_left_alone(scene: Scene, mallory: Stranger) -> None:
    instance = busy_machine(scene, launcher_reports=False)
    scene.github.state.put("runners", 9, busy=False)
    scene.receive(COMPLETED, 1, started_at=ago(minutes=45), runner_id=9, completed_at=ago(minutes=31))
    mallory.run_job_on(instance)
    response = reconcile(scene)
    assert (response["summary"]["contested_runners"], response["summary"]["orphans"]) == (1, 0)
    assert (
        f"runner {instance}: contested by installations {INSTALLATION} and {STRANGER}; not changed" in response["text"]
    )
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
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=45), runner_id=9, runner_name=f"runner--{instance}")
    look_up(scene)
    runner = scene.runner(instance)
    assert (runner["installation_id"], runner["job_id"], runner["proven_by"]) == (INSTALLATION, 1, "launcher_tag")
    assert scene.job(1)["instance_id"] == instance


@pytest.mark.parametrize("tags", [{}, {"Name": "database"}, {"runner": "no"}])
def test_a_machine_that_is_no_runner_is_never_described(scene: Scene, mallory: Stranger, tags: dict[str, str]) -> None:
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
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=45), runner_id=9, runner_name=f"runner--{instance}")
    look_up(scene)
    assert scene.job(1)["instance_id"] == instance


def test_a_name_that_resembles_an_id_names_no_machine(scene: Scene) -> None:
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=45), runner_id=9, runner_name="ci-i-7f3e2a90")
    look_up(scene)
    assert "instance_id" not in scene.job(1)
    assert not [each for each in scene.world.dynamodb.scan(TableName=RUNNERS)["Items"] if "job_id" in each]


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


def test_a_forged_job_id_does_not_describe_a_machine_to_another_repository(scene: Scene) -> None:
    instance = busy_machine(scene)
    hook = Stranger(scene, installation_id=0, repo=STRANGERS_REPO)
    hook.run_job_on(instance, job_id=1, completed=False)
    assert "instance_id" not in hook.job(1)
    scene.launch(2, instance)  # the machine's next job, and its end, reach the forged copy neither
    scene.world.invoke("instance_state", batch(instance_state("terminated", runner_id=instance)))
    assert not [name for name in (*DESCRIBED, "terminated_at") if name in hook.job(1)]
    assert "instance_id" in scene.job(2)


def test_a_hook_without_an_app_contests_no_machine_of_an_app(scene: Scene) -> None:
    instance = busy_machine(scene, launcher_reports=False)
    Stranger(scene, installation_id=0, repo=STRANGERS_REPO).run_job_on(instance)
    assert "contested_at" not in scene.runner(instance)


def test_an_account_whose_name_was_taken_over_is_not_taken_for_the_owner(scene: Scene) -> None:
    instance = busy_machine(scene, launcher_reports=False, tags=TAGGED | {"ghr:Owner": OWNER})
    scene.receive(COMPLETED, 1, started_at=ago(minutes=45), runner_id=9, completed_at=ago(minutes=31))
    scene.github.state.put("installations", INSTALLATION, account="renamed")
    scene.github.state.put("runners", 9, scope="renamed/web")
    scene.github.state.put("installations", 777, account=OWNER)
    reconcile(scene)
    assert scene.state_of(instance) == "running"


def test_the_response_to_a_limited_operator_names_no_runner_of_others(scene: Scene) -> None:
    instance = idle_orphan(scene, {})
    scene.reconcile()
    scene.github.state.put("runners", 10, scope=OWNER, name="acme-project-titan-deploy", busy=True)
    response = scene.reconcile(clean=instance, requested_by="token:limited", installations=[INSTALLATION])
    assert "titan" not in response["text"]
    assert scene.state_of(instance) == "running"


def test_a_cleanup_is_refused_if_the_machine_is_no_longer_the_callers(scene: Scene) -> None:
    instance = idle_orphan(scene, {})
    scene.reconcile()
    response = scene.reconcile(clean=instance, requested_by="token:limited", installations=[STRANGER])
    assert "isn't a suspected orphan" in response["text"]
    assert scene.state_of(instance) == "running"
