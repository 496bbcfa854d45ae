"""A renamed account keeps its machines: its new name counts, and no other account gets them with the former one."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.security.machines import ownerless, reconcile
from tests.support.beds import items
from tests.support.ledgers import JOBS
from tests.support.reconciler_scene import TAGGED, Scene, ago
from tests.support.runner_events import ACCOUNT
from tests.support.stranger import INSTALLATION as TENANT
from tests.support.stranger import Stranger
from tests.support.webhooks import IN_PROGRESS, INSTALLATION, QUEUED, REPO, http_event, payload

OWNER = REPO.partition("/")[0]
RENAMED = "new-name"


@pytest.fixture
def tenant(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Stranger:
    """Their launcher may report about their own installation, and nothing else."""
    limited = {"account": ACCOUNT, "source": "my.launcher", "installations": [TENANT]}
    monkeypatch.setenv("EVENT_PUBLISHERS", json.dumps([limited]))
    tenant = Stranger(scene)
    tenant.webhook(IN_PROGRESS, 6661)
    return tenant


def send(scene: Scene, event: str, message: dict[str, Any], *, guid: str) -> int:
    now = round(datetime.now(UTC).timestamp() * 1000)
    sent = http_event(json.dumps(message).encode(), event=event, guid=guid, at_epoch_ms=now)
    return int(scene.world.invoke("webhook_intake", sent)["statusCode"])


def rename(scene: Scene, *, to: str, of: int = TENANT, at: str | None = None, **account: Any) -> int:
    about = {"login": to, "updated_at": at or ago(minutes=1), **account}
    message = {"action": "renamed", "account": about, "target_type": "Organization", "installation": {"id": of}}
    message["changes"] = {"login": {"from": "mallory"}}
    return send(scene, "installation_target", message, guid=f"renamed to {to}")


def queue_job(scene: Scene, job_id: int, repo: str, *, at: str, of: int = TENANT) -> None:
    message = payload(QUEUED, job_id=job_id, created_at=at, started_at=at)
    owner = repo.partition("/")[0]
    message |= {"installation": {"id": of}, "organization": {"login": owner}}
    message["repository"] |= {"full_name": repo, "owner": {"login": owner}}
    assert send(scene, "workflow_job", message, guid=f"job {job_id}") == 202


def account_of(scene: Scene, installation_id: int) -> dict[str, Any]:
    registered = [item for item in items(scene.world.dynamodb, JOBS) if item["PK"] == "installations"]
    return next(item for item in registered if item["installation_id"] == installation_id)


@pytest.mark.parametrize("by", ["installation_target", "workflow_job"])
@pytest.mark.parametrize("restarts", [False, True], ids=["warm", "cold start"])
def test_a_limited_publisher_reports_machines_that_are_tagged_with_the_new_name(
    scene: Scene, tenant: Stranger, by: str, restarts: bool
) -> None:
    instance = scene.start_instance(TAGGED | {"ghr:Owner": RENAMED})
    assert tenant.publish("runner_scheduled", instance)["batchItemFailures"]
    if restarts:
        scene.world.start("webhook_intake")
    if by == "installation_target":
        assert rename(scene, to=RENAMED) == 202
    else:
        queue_job(scene, 6663, f"{RENAMED}/prank", at=ago(minutes=1))
    assert not tenant.publish("runner_scheduled", instance)["batchItemFailures"]
    item = account_of(scene, TENANT)
    assert (item["org_name"], item["former_names"]) == (RENAMED, {"mallory"})


def test_a_delivery_that_is_older_than_the_new_name_does_not_restore_the_former_one(
    scene: Scene, tenant: Stranger
) -> None:
    assert rename(scene, to=RENAMED, at=ago(minutes=5)) == 202
    queue_job(scene, 6663, tenant.repo, at=ago(minutes=30))
    scene.world.start("webhook_intake")
    queue_job(scene, 6664, tenant.repo, at=ago(minutes=20))
    assert rename(scene, to="even-older", at=ago(minutes=40)) == 202
    assert account_of(scene, TENANT)["org_name"] == RENAMED


@pytest.mark.parametrize("is_first", [True, False])
def test_a_name_that_is_not_the_owner_of_the_repository_is_not_the_account(scene: Scene, is_first: bool) -> None:
    """The holder of a secret that is limited to a repository can write any organisation into the body."""
    tenant = Stranger(scene)
    if not is_first:
        tenant.webhook(IN_PROGRESS, 6661)
    message = payload(QUEUED, job_id=6663, created_at=ago(minutes=1), started_at=ago(minutes=1))
    message |= {"installation": {"id": TENANT}, "organization": {"login": OWNER}}
    message["repository"] |= {"full_name": tenant.repo, "owner": {"login": OWNER}}
    assert send(scene, "workflow_job", message, guid="forged") == 202
    assert account_of(scene, TENANT)["org_name"] == "mallory"


def test_hooks_without_an_app_have_no_name_that_could_change(scene: Scene) -> None:
    queue_job(scene, 1, "one/web", at=ago(minutes=3), of=0)
    queue_job(scene, 2, "two/web", at=ago(minutes=2), of=0)
    assert account_of(scene, 0)["org_name"] == "one"
    assert rename(scene, to=RENAMED, of=0) == 400


def test_webhooks_of_one_name_write_no_more_than_before(scene: Scene, tenant: Stranger) -> None:
    queue_job(scene, 6663, tenant.repo, at=ago(minutes=3))
    before = account_of(scene, TENANT)
    queue_job(scene, 6664, tenant.repo, at=ago(minutes=2))
    assert account_of(scene, TENANT) == before
    assert not {"named_at", "former_names"} & before.keys()


@pytest.mark.parametrize("is_known", [True, False], ids=["a webhook reported the name", "only GitHub's API has it"])
def test_an_account_that_takes_a_former_name_gets_no_busy_machine_stopped(scene: Scene, is_known: bool) -> None:
    """The launcher still tags machines with the former name. The ledger has no job of the machine."""
    ownerless(scene)
    instance = scene.start_instance(TAGGED | {"ghr:Owner": OWNER})
    if is_known:
        assert rename(scene, to=RENAMED, of=INSTALLATION) == 202
    scene.github.state.put("installations", INSTALLATION, account=RENAMED)
    scene.github.state.put("runners", 9, scope=f"{RENAMED}/web", name=f"runner--{instance}", busy=True)
    scene.github.state.put("installations", 777, account=OWNER)
    response = reconcile(scene)
    assert scene.state_of(instance) == "running"
    assert "belongs or belonged to several installations" in response["text"]
    assert "installation_id" not in scene.runner(instance)


def test_an_account_whose_app_was_installed_again_is_not_taken_for_two(scene: Scene) -> None:
    ownerless(scene)
    instance = scene.start_instance(TAGGED | {"ghr:Owner": OWNER})
    del scene.github.state.installations[INSTALLATION]
    scene.github.state.put("installations", 777, account=OWNER)
    reconcile(scene)
    assert scene.state_of(instance) == "terminated"
