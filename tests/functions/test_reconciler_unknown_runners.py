"""A webhook that was not received and a list that GitHub does not return are no proof that a machine is idle."""

from typing import Any

import pytest

from tests.support.ledgers import RUNNERS
from tests.support.reconciler_scene import ORG, TAGGED, Scene, ago
from tests.support.stranger import REPO as STRANGERS_REPO
from tests.support.stranger import Stranger
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, REPO

OTHER = f"{ORG}/other"
RAN = {"started_at": ago(minutes=50), "runner_id": 9}
GUID = "0f9de17a6465404e8b1b2356dc13c2f8"


def registered(scene: Scene, instance_id: str, *, scope: str = REPO, busy: bool = True) -> None:
    scene.github.state.put("runners", 9, scope=scope, name=f"runner--{instance_id}", busy=busy)


def reconcile(scene: Scene) -> dict[str, Any]:
    """Suspected in the first pass, stopped in the second one."""
    for _ in range(3):
        response = scene.reconcile()
    return response


def completed(scene: Scene, instance_id: str) -> None:
    """The job that the machine was launched for is over."""
    scene.launch(1, instance_id)
    scene.receive(COMPLETED, 1, **RAN, runner_name=f"runner--{instance_id}", completed_at=ago(minutes=30))


def half_an_hour_later(scene: Scene, instance_id: str) -> None:
    """A runner whose suspicion was cleared isn't suspected again until then."""
    key = {"PK": {"S": instance_id}, "SK": {"S": "v"}}
    scene.world.dynamodb.update_item(TableName=RUNNERS, Key=key, UpdateExpression="REMOVE suspicion_cleared_at")


@pytest.mark.parametrize("scope", [ORG, REPO, OTHER])
def test_a_machine_that_is_busy_before_the_first_webhook_arrives_is_left_alone(scene: Scene, scope: str) -> None:
    instance = scene.start_instance()
    registered(scene, instance, scope=scope)
    reconcile(scene)
    assert scene.state_of(instance) == "running"
    registered(scene, instance, scope=scope, busy=False)
    half_an_hour_later(scene, instance)
    reconcile(scene)
    assert scene.state_of(instance) == "terminated"


def test_an_app_without_installations_stops_nothing(scene: Scene) -> None:
    instance = scene.start_instance()
    scene.github.state.installations.clear()
    response = reconcile(scene)
    assert scene.state_of(instance) == "running"
    assert "the GitHub App has no installations" in response["text"]


@pytest.mark.parametrize("scope", [ORG, REPO, OTHER])
def test_a_machine_that_takes_a_job_while_intake_is_down_is_left_alone(scene: Scene, scope: str) -> None:
    """Also if it is registered with a repository that the ledger has no job of."""
    instance = scene.start_instance()
    completed(scene, instance)
    registered(scene, instance, scope=scope)
    reconcile(scene)
    assert scene.state_of(instance) == "running"


@pytest.mark.parametrize("scope", [ORG, REPO, OTHER])
def test_a_machine_whose_launchers_event_was_the_first_of_the_installation_is_left_alone(
    scene: Scene, scope: str
) -> None:
    """No webhook arrives: GitHub reports the end of the job that it was launched for, and another one runs there."""
    instance = scene.start_instance()
    scene.launch(1, instance)
    scene.on_github(1, "completed", **RAN, conclusion="success", completed_at=ago(minutes=30))
    registered(scene, instance, scope=scope)
    response = reconcile(scene)
    assert scene.job(1)["status"] == "completed"
    assert scene.state_of(instance) == "running", response["text"]


def organisation_hook(scene: Scene, repo: str) -> Stranger:
    """A hook without an App: its webhooks contain no installation."""
    hook = Stranger(scene, installation_id=0, repo=repo)
    del scene.github.state.installations[0]
    return hook


def test_a_machine_that_only_an_organisations_hook_reports_is_searched_with_the_app(scene: Scene) -> None:
    hook, instance = organisation_hook(scene, REPO), scene.start_instance()
    hook.run_job_on(instance)
    del scene.github.state.runners[660]
    registered(scene, instance)
    reconcile(scene)
    assert scene.state_of(instance) == "running"
    registered(scene, instance, busy=False)
    half_an_hour_later(scene, instance)
    reconcile(scene)
    assert scene.state_of(instance) == "terminated"


def test_a_hook_of_an_account_without_the_app_keeps_machines_of_unknown_owners_alive(scene: Scene) -> None:
    instance = scene.start_instance()
    organisation_hook(scene, STRANGERS_REPO).webhook(IN_PROGRESS, 6661, **RAN, runner_name="unrelated")
    response = reconcile(scene)
    assert scene.state_of(instance) == "running"
    assert "no GitHub App can list the runners of mallory" in response["text"]


def test_a_machine_that_was_launched_for_a_job_without_an_installation_is_left_alone(scene: Scene) -> None:
    hook, instance = organisation_hook(scene, REPO), scene.start_instance()
    hook.publish("runner_scheduled", instance)
    hook.webhook(COMPLETED, 6662, **RAN, runner_name=f"runner--{instance}", completed_at=ago(minutes=30))
    response = reconcile(scene)
    assert scene.state_of(instance) == "running"
    assert f"runner {instance} belongs to no installation of the App" in response["text"]


@pytest.mark.parametrize("status", [403, 404])
def test_a_token_that_github_refuses_keeps_the_machine_alive(scene: Scene, status: int) -> None:
    instance = scene.start_instance()
    completed(scene, instance)
    scene.github.state.add_fault(kind="error", status=status, path="/app/installations/*/access_tokens", times=None)
    reconcile(scene)
    assert scene.state_of(instance) == "running"


def test_the_runners_of_a_user_are_those_of_the_repositories(scene: Scene) -> None:
    """GitHub has no list of runners for a user account, and returns 404."""
    instance = scene.start_instance()
    completed(scene, instance)
    scene.github.state.put("installations", INSTALLATION, account_type="User")
    scene.github.state.add_fault(kind="error", status=404, path="/orgs/*", times=None)
    registered(scene, instance)
    reconcile(scene)
    assert scene.state_of(instance) == "running"
    registered(scene, instance, busy=False)
    half_an_hour_later(scene, instance)
    reconcile(scene)
    assert scene.state_of(instance) == "terminated"


def test_an_installation_on_an_enterprise_keeps_machines_of_unknown_owners_alive(scene: Scene) -> None:
    """Its runners can't be listed. A machine with an owner is searched for with that owner's installation."""
    unknown, owned = scene.start_instance(), scene.start_instance(TAGGED | {"ghr:Owner": ORG})
    scene.github.state.put("installations", 777, account="big-company", account_type="Enterprise")
    response = reconcile(scene)
    assert "installation 777 belongs to an enterprise, so its runners can't be listed" in response["text"]
    assert response["summary"]["errors"] == 0
    assert (scene.state_of(unknown), scene.state_of(owned)) == ("running", "terminated")


def test_a_machine_whose_tag_names_an_account_without_the_app_is_left_alone(scene: Scene) -> None:
    """The account is, for example, an enterprise."""
    instance = scene.start_instance(TAGGED | {"ghr:Owner": "big-company"})
    response = reconcile(scene)
    assert scene.state_of(instance) == "running"
    assert "is big-company, which has no installation of the App" in response["text"]


@pytest.mark.parametrize("name", [f"gha-{GUID}", "ci-7f3e2a90", "ci-i-7f3e2a90"])
def test_a_runner_whose_name_resembles_an_id_leaves_its_job_on_the_real_machine(scene: Scene, name: str) -> None:
    instance = scene.start_instance()
    scene.launch(1, instance)
    scene.receive(IN_PROGRESS, 1, **RAN, runner_name=name)
    for message in scene.world.waiting("lookups"):
        scene.world.invoke("runner_lookup", {"Records": [message]})
    scene.on_github(1, "in_progress", **RAN, runner_name=name)
    scene.github.state.put("runners", 9, scope=REPO, name=name, busy=True)
    reconcile(scene)
    job = scene.job(1)
    assert (job["status"], job["instance_id"], job.get("was_interrupted")) == ("in_progress", instance, None)
    assert scene.state_of(instance) == "running"
