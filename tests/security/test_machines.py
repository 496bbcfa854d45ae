"""A runner's name is a claim, not a proof: no claim gets another owner's machine stopped, taken over or described."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from runledger.runners.instances import describe_tasks
from runledger_github.registrations import Registrations

from tests.functions.reconciling import TAGGED, Scene, ago
from tests.security.stranger import INSTALLATION as STRANGER
from tests.security.stranger import REPO as STRANGERS_REPO
from tests.security.stranger import Stranger
from tests.support.ledgers import RUNNERS
from tests.support.runner_events import ACCOUNT, batch, instance_state, launcher
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, REPO

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
    scene.receive(IN_PROGRESS, 1, **ran)
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
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=45), runner_id=9, runner_name="unrelated")
    reconcile(scene)
    assert scene.state_of(instance) == "running"


def test_two_claims_make_a_machine_contested_which_is_shown_and_left_alone(scene: Scene, mallory: Stranger) -> None:
    instance = busy_machine(scene, launcher_reports=False)
    scene.github.state.put("runners", 9, busy=False)
    scene.receive(COMPLETED, 1, started_at=ago(minutes=45), runner_id=9, completed_at=ago(minutes=31))
    mallory.run_job_on(instance)
    answer = reconcile(scene)
    assert (answer["summary"]["contested_runners"], answer["summary"]["orphans"]) == (1, 0)
    assert f"runner {instance}: contested by installations {INSTALLATION} and {STRANGER}; not changed" in answer["text"]
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


def idle_orphan(scene: Scene, tags: dict[str, str]) -> str:
    """Its job is over, and GitHub lists it as idle."""
    instance = scene.start_instance(TAGGED | tags)
    scene.launch(1, instance)
    name = f"runner--{instance}"
    scene.receive(COMPLETED, 1, started_at=ago(minutes=50), runner_id=9, runner_name=name, completed_at=ago(minutes=30))
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
    scene.receive(IN_PROGRESS, 1)
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


# ---- the search for a registration


def ownerless(scene: Scene) -> str:
    """A machine with the tags of a runner that nothing else is known of."""
    scene.receive(COMPLETED, 1, completed_at=ago(minutes=30))
    return scene.start_instance()


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


def test_a_list_that_changes_while_it_is_read_leaves_no_busy_runner_out(scene: Scene) -> None:
    instance = idle_orphan(scene, {})
    del scene.github.state.runners[9]
    for number in range(100, 219):
        scene.github.state.put("runners", number, scope=REPO, name=f"x-i-{number:017x}")
    scene.github.state.put("runners", 219, scope=REPO, name=f"runner--{instance}", busy=True)
    scene.github.state.runners = Shrinking(scene.github.state.runners)
    reconcile(scene)
    assert scene.state_of(instance) == "running"


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


class Shrinking(dict[int, Any]):
    """Each time it is read, the first runner has gone since the last time."""

    def values(self) -> Any:
        del self[next(iter(self))]
        return super().values()


# ---- publishers, names and hooks


def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mallory's launcher may publish about mallory's installation, the victim's about all."""
    everything = {"account": ACCOUNT, "source": "my.launcher", "installations": "*"}
    theirs = {"account": ACCOUNT, "source": "mallory.launcher", "installations": [STRANGER]}
    monkeypatch.setenv("EVENT_PUBLISHERS", json.dumps([everything, theirs]))


def schedule(scene: Scene, mallory: Stranger, instance: str, **detail: Any) -> Any:
    about = {"installation_id": STRANGER, "repo_full_name": mallory.repo, **detail}
    event = launcher("runner_scheduled", job_id=6662, runner_id=instance, **about)
    return scene.world.invoke(
        "scheduling_events", batch(event | {"source": "mallory.launcher", "time": ago(minutes=20)})
    )


@pytest.mark.parametrize("claims_to_be_the_victims", [False, True])
def test_a_limited_publisher_takes_no_machine_whose_owner_a_tag_names(
    scene: Scene, mallory: Stranger, monkeypatch: pytest.MonkeyPatch, claims_to_be_the_victims: bool
) -> None:
    limited(monkeypatch)
    instance = busy_machine(scene, launcher_reports=False, tags=TAGGED | {"ghr:Owner": OWNER})
    schedule(scene, mallory, instance, **({"repo_full_name": REPO} if claims_to_be_the_victims else {}))
    runner = scene.runner(instance)
    assert (runner["installation_id"], runner["proven_by"], runner["job_id"]) == (INSTALLATION, "launcher_tag", 1)


def test_a_limited_publisher_that_comes_first_gives_way_to_the_owner_that_a_tag_names(
    scene: Scene, mallory: Stranger, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch)
    instance = scene.start_instance(TAGGED | {"ghr:Owner": OWNER})
    schedule(scene, mallory, instance)
    scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=45), runner_id=9, runner_name=f"runner--{instance}")
    look_up(scene)
    assert scene.job(1)["instance_id"] == instance
    assert schedule(scene, mallory, instance)["batchItemFailures"]
    runner = scene.runner(instance)
    assert (runner["installation_id"], runner["proven_by"]) == (INSTALLATION, "launcher_tag")
    assert "contested_at" not in runner


@pytest.mark.parametrize("publisher_first", [True, False])
def test_a_limited_publisher_and_another_claimant_make_a_machine_contested(
    scene: Scene, mallory: Stranger, monkeypatch: pytest.MonkeyPatch, publisher_first: bool
) -> None:
    limited(monkeypatch)
    if publisher_first:
        instance = scene.start_instance()
        schedule(scene, mallory, instance)
        scene.receive(IN_PROGRESS, 1, started_at=ago(minutes=45), runner_id=9, runner_name=f"runner--{instance}")
        look_up(scene)
    else:
        instance = busy_machine(scene, launcher_reports=False)
        assert schedule(scene, mallory, instance)["batchItemFailures"]
    assert "contested_at" in scene.runner(instance)
    scene.launch(1, instance)
    assert scene.runner(instance)["proven_by"] == "launcher_event"


def test_a_limited_publisher_writes_nothing_into_another_owners_machine_or_job(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch)
    instance = busy_machine(scene, launcher_reports=False)
    before = (scene.runner(instance), scene.job(1), scene.history(1))
    for kind in ("runner_attached", "runner_terminated"):
        event = launcher(kind, runner_id=instance, installation_id=STRANGER)
        published = batch(event | {"source": "mallory.launcher", "time": ago(minutes=1)})
        assert scene.world.invoke("scheduling_events", published)["batchItemFailures"]
    assert (scene.runner(instance), scene.job(1), scene.history(1)) == before


def test_a_report_from_the_future_is_dated_by_its_arrival(scene: Scene) -> None:
    instance = scene.start_instance()
    event = launcher("runner_scheduled", job_id=1, runner_id=instance)
    published = batch(event | {"time": "2099-01-01T00:00:00Z"})
    published["Records"][0]["attributes"] = {"SentTimestamp": "1736935200000", "ApproximateReceiveCount": "1"}
    scene.world.invoke("scheduling_events", published)
    assert not [item for item in (*scene.history(1), scene.runner(instance)) if "2099" in str(item)]


def test_an_arn_of_another_account_or_region_is_another_task() -> None:
    task_id = "0a" * 16
    real = f"arn:aws:ecs:us-east-1:{ACCOUNT}:task/runners/{task_id}"
    alias = f"arn:aws:ecs:eu-west-9:999999999999:task/runners/{task_id}"
    ecs = SimpleNamespace(
        describe_tasks=lambda **_: {"tasks": [{"taskArn": real, "lastStatus": "RUNNING", "tags": []}]}
    )
    assert set(describe_tasks(ecs, "runners", [real, alias, task_id])) == {real, task_id}


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


def test_the_answer_to_a_limited_operator_names_no_runner_of_others(scene: Scene) -> None:
    instance = idle_orphan(scene, {})
    scene.reconcile()
    scene.github.state.put("runners", 10, scope=OWNER, name="acme-project-titan-deploy", busy=True)
    answer = scene.reconcile(clean=instance, requested_by="token:limited", installations=[INSTALLATION])
    assert "titan" not in answer["text"]
    assert scene.state_of(instance) == "running"


def test_a_cleanup_is_refused_if_the_machine_is_no_longer_the_callers(scene: Scene) -> None:
    instance = idle_orphan(scene, {})
    scene.reconcile()
    answer = scene.reconcile(clean=instance, requested_by="token:limited", installations=[STRANGER])
    assert "isn't a suspected orphan" in answer["text"]
    assert scene.state_of(instance) == "running"
