"""An older version is deployed and filled, and upgraded with the real `cdk deploy` while webhooks arrive.

Nothing is lost: what it held stays, what waited in queues is processed, and every delivery is accounted for.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from local.aws import clients as aws
from local.aws import deployment, emulator
from local.aws.deployment import RUNNER_TAGS
from local.aws.outputs import Outputs, compose
from local.github import simulator
from tests.e2e.api import call
from tests.support import messages
from tests.support.deployed import pause_schedules
from tests.support.polling import eventually
from tests.support.running_deployment import Deployment
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, LIFE, QUEUED, RUN, payload
from tests.upgrade import baseline
from tests.upgrade.traffic import NO_INSTANCE, Traffic

pytestmark = pytest.mark.server

FILLED, APPROVED, WITH_RUNNER, RETRIED, LOOKED_UP = 4_000_001, 4_000_002, 4_000_003, 4_000_004, 4_000_005
RUN_IN_MOTION = 4_000_000_000  # of the jobs whose messages wait in queues
HELD_UP = ("webhook_retry", "runner_lookup")
Tables = dict[str, dict[tuple[str, str], dict[str, Any]]]


@dataclass
class Upgrade:
    """What was true before and after; the machine of a job whose lookup waited in its queue meanwhile."""

    before: Outputs
    traffic: Traffic
    tables_before: Tables
    secrets_before: dict[str, str]
    layers_before: list[str]
    waiting_before: dict[str, int]
    looked_up: str
    after: Outputs = field(init=False)
    waiting_after: dict[str, int] = field(init=False)

    @property
    def deployed(self) -> Deployment:
        return Deployment(outputs=self.after)


@pytest.fixture(scope="module")
def upgrade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upgrade]:
    folder = tmp_path_factory.mktemp("upgrade")
    older = baseline.check_out(tmp_path_factory.mktemp("baseline"))
    with emulator.running(folder) as aws_url, simulator.running(folder) as github_url:
        before = deployment.deploy(
            aws_url, folder, github_api_url=github_url, app_folder=older, assets_folder=baseline.ASSETS
        )
        pause_schedules(before)
        old = Deployment(outputs=before)
        fill(old)
        looked_up = leave_messages_in_queues(old)
        upgrade = Upgrade(
            before=before,
            traffic=Traffic(before),
            tables_before=old.tables(),
            secrets_before=old.secrets(),
            layers_before=old.layers("webhook_intake"),
            waiting_before={queue: old.waiting(queue) for queue in ("WebhookRetries", "RunnerLookups")},
            looked_up=looked_up,
        )
        with upgrade.traffic.flowing():
            stacks = deployment.deploy_stacks(aws_url, folder, github_api_url=github_url)
        upgrade.after = compose(
            stacks,
            endpoint_url=aws_url,
            github_api_url=github_url,
            webhook_secret=before.webhook_secret,
            admin_token=before.admin_token,
        )
        new = upgrade.deployed
        upgrade.waiting_after = {queue: new.waiting(queue) for queue in upgrade.waiting_before}
        new.read_queues(*HELD_UP, enabled=True)
        yield upgrade


def fill(old: Deployment) -> None:
    """Jobs, a run, an approval and a runner."""
    for step in LIFE:
        old.post("workflow_job", payload(step, job_id=FILLED, runner_name=NO_INSTANCE), guid=f"{step} of {FILLED}")
    old.post("workflow_job", payload("waiting", job_id=APPROVED), guid=f"waiting of {APPROVED}")
    for number, (event, message) in enumerate(
        (messages.run("requested"), messages.deployment(), messages.protection_rule(), messages.review("requested"))
    ):
        old.post(event, message, guid=f"report {number}")
    machine = start_on_a_machine(old, WITH_RUNNER)
    eventually(lambda: (machine, "v") in old.tables()["runners"])
    tables = old.tables()
    assert all(tables.values()), {name: len(found) for name, found in tables.items()}


def leave_messages_in_queues(old: Deployment) -> str:
    """Written by the functions of the old version, and kept from being read until the upgrade is over."""
    old.read_queues(*HELD_UP, enabled=False)
    machine = start_on_a_machine(old, LOOKED_UP, run_id=RUN_IN_MOTION)
    with old.tables_out_of_reach("webhook_intake"):
        for step in (QUEUED, COMPLETED):
            message = payload(step, job_id=RETRIED, run_id=RUN_IN_MOTION, runner_name=NO_INSTANCE)
            assert old.post("workflow_job", message, guid=f"{step} of {RETRIED}") == "deferred"
    return machine


def start_on_a_machine(old: Deployment, job_id: int, *, run_id: int = RUN) -> str:
    machine = aws.start_instance(old.outputs, instance_type="c7i.large", tags=RUNNER_TAGS)
    message = payload(IN_PROGRESS, job_id=job_id, run_id=run_id, runner_name=f"runner-{machine}")
    old.post("workflow_job", message, guid=f"in_progress of {job_id}")
    return machine


def test_the_upgrade_changes_the_code(upgrade: Upgrade) -> None:
    """Otherwise all that follows would be true of a deployment that was left alone."""
    assert upgrade.deployed.layers("webhook_intake") != upgrade.layers_before


def test_names_and_addresses_are_unchanged_by_an_upgrade(upgrade: Upgrade) -> None:
    for name in ("webhook_url", "api_url", "event_bus"):
        assert getattr(upgrade.after, name) == getattr(upgrade.before, name)
    assert upgrade.before.tables.items() <= upgrade.after.tables.items()
    assert upgrade.before.functions.items() <= upgrade.after.functions.items()


def test_secrets_and_tokens_are_unchanged_by_an_upgrade(upgrade: Upgrade) -> None:
    assert len(upgrade.secrets_before) == 3
    assert upgrade.deployed.secrets() == upgrade.secrets_before
    assert call(upgrade.after, "/v1/me").status == 200


def test_items_are_unchanged_by_an_upgrade(upgrade: Upgrade) -> None:
    """Items of the jobs whose messages were waiting, and of their run, may have changed, but none is gone."""
    after = upgrade.deployed.tables()
    jobs = {f"{INSTALLATION}#{job_id}" for job_id in (RETRIED, LOOKED_UP)}
    in_motion = jobs | {f"{INSTALLATION}#{RUN_IN_MOTION}#1", upgrade.looked_up}
    for table, items in upgrade.tables_before.items():
        assert items.keys() <= after[table].keys()
        kept = {key: item for key, item in items.items() if key[0] not in in_motion}
        assert {key: after[table][key] for key in kept} == kept


def test_traffic_flowed_during_the_upgrade(upgrade: Upgrade) -> None:
    assert len(upgrade.traffic.accepted) > 20


def test_every_delivery_is_recorded_or_refused_with_a_reason(upgrade: Upgrade) -> None:
    sent, deployed = upgrade.traffic.sent, upgrade.deployed
    wanted = {(each.key, each.guid) for each in upgrade.traffic.accepted}
    # An accepted delivery may have waited in the retry queue.
    eventually(lambda: wanted <= deployed.recorded(), lambda: wanted - deployed.recorded())
    lines = deployed.recorded()
    recorded = [each for each in sent if (each.key, each.guid) in lines]
    refused = [each for each in sent if (each.key, each.guid) not in lines]
    print(f"\n{len(sent)} sent = {len(recorded)} recorded + {len(refused)} refused")
    for reason in sorted({each.refusal or "" for each in refused}):
        print(f"  {sum(each.refusal == reason for each in refused)} times {reason}")
    assert all(each.refusal for each in refused)
    assert all(each.refusal and each.refusal.startswith("401") for each in sent if each.forged)
    assert not any(each.forged for each in recorded)


def test_what_was_refused_in_between_is_recorded_when_github_redelivers_it(upgrade: Upgrade) -> None:
    lines = upgrade.deployed.recorded()
    lost = [each for each in upgrade.traffic.sent if not each.forged and (each.key, each.guid) not in lines]
    assert [each.refusal for each in map(upgrade.traffic.redeliver, lost)] == [None] * len(lost)
    wanted = {(each.key, each.guid) for each in lost}
    eventually(lambda: wanted <= upgrade.deployed.recorded())


def test_messages_of_the_old_version_are_processed(upgrade: Upgrade) -> None:
    assert upgrade.waiting_before == {"WebhookRetries": 2, "RunnerLookups": 1}
    assert upgrade.waiting_after == upgrade.waiting_before
    deployed, key = upgrade.deployed, f"{INSTALLATION}#{RETRIED}"
    retried = {(key, f"{step} of {RETRIED}") for step in (QUEUED, COMPLETED)}
    eventually(lambda: retried <= deployed.recorded())
    eventually(lambda: (upgrade.looked_up, "v") in deployed.tables()["runners"])
    eventually(lambda: not any(deployed.waiting(queue) for queue in upgrade.waiting_before))
    jobs = deployed.tables()["workflow_jobs"]
    assert jobs[key, "v"]["status"] == "completed"
    assert jobs[f"{INSTALLATION}#{LOOKED_UP}", "v"]["instance_id"] == upgrade.looked_up
