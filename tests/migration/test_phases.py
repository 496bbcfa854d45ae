"""Every storage phase and every change of phase, forwards and backwards: the real `cdk deploy` while webhooks arrive.

It takes minutes, so it runs with `make migration` only.
"""

import json
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ClientError
from runledger.migration import archive
from runledger.migration.phases import StoragePhase

from local.aws import deployment, emulator
from local.aws.outputs import Outputs
from local.github import simulator
from tests.support.deployed import pause_schedules
from tests.support.polling import eventually
from tests.support.running_deployment import Deployment
from tests.upgrade.traffic import Sent, Traffic

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(os.environ.get("MIGRATION_PHASES") != "all", reason="takes minutes: run `make migration`"),
]

BUCKET = "acme-runners"
SETTINGS = {
    "webhook_bucket": BUCKET,
    "runner_config_bucket": "create",
    "runner_role_ids": "AROAEXAMPLEEXAMPLE123",
}
ONLY, DUAL, FIRST, CLEANUP = (
    StoragePhase.DYNAMODB_ONLY,
    StoragePhase.DUAL_WRITE,
    StoragePhase.DYNAMODB_FIRST,
    StoragePhase.CLEANUP,
)
CHANGES = (DUAL, FIRST, ONLY, CLEANUP, ONLY, FIRST, DUAL, ONLY)
SENT_IN_EACH = 6


@dataclass
class Journey:
    """`within` are the deliveries that were sent while nothing was deployed, by the number of the change."""

    outputs: Outputs
    traffic: Traffic
    within: list[tuple[StoragePhase, list[Sent]]] = field(default_factory=list)
    rules: list[list[str]] = field(default_factory=list)

    @property
    def deployed(self) -> Deployment:
        return Deployment(outputs=self.outputs)


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    folder = tmp_path_factory.mktemp("phases")
    with emulator.running(folder) as aws_url, simulator.running(folder) as github_url:
        outputs = deployment.deploy(aws_url, folder, github_api_url=github_url)
        pause_schedules(outputs)
        made = Journey(outputs=outputs, traffic=Traffic(outputs))
        with closing(made.deployed.client("s3")) as s3:
            s3.create_bucket(Bucket=BUCKET)
            with made.traffic.flowing():
                for phase in CHANGES:
                    settings = SETTINGS | {"storage_phase": phase}
                    deployment.deploy_stacks(aws_url, folder, github_api_url=github_url, settings=settings)
                    begin = len(made.traffic.sent) + 1  # one may be under way
                    eventually(partial(_has_sent, made.traffic, begin + SENT_IN_EACH))
                    made.within.append((phase, made.traffic.sent[begin:]))
                    made.rules.append(rules(s3))
        yield made


def rules(s3: Any) -> list[str]:
    try:
        return [each["ID"] for each in s3.get_bucket_lifecycle_configuration(Bucket=BUCKET)["Rules"]]
    except ClientError:
        return []


def copied(journey: Journey) -> set[str]:
    with closing(journey.deployed.client("s3")) as s3:
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
        return {found["Key"] for page in pages for found in page.get("Contents", [])}


def _has_sent(traffic: Traffic, number: int) -> bool:
    return len(traffic.sent) >= number


def _are_copied(journey: Journey, keys: set[str]) -> bool:
    return keys <= copied(journey)


def key_of(sent: Sent) -> str:
    return f"webhooks/{sent.key.replace('#', '/')}/{json.loads(sent.body)['action']}.json"


def test_no_delivery_is_lost_in_any_phase_or_change(journey: Journey, capsys: pytest.CaptureFixture[str]) -> None:
    sent = journey.traffic.sent
    wanted = {(each.key, each.guid) for each in journey.traffic.accepted}
    eventually(lambda: wanted <= journey.deployed.recorded(), lambda: wanted - journey.deployed.recorded())
    refused = [each for each in sent if each.refusal]
    with capsys.disabled():
        print(f"\n{len(sent)} sent = {len(wanted)} recorded + {len(refused)} refused, {len(CHANGES)} changes of phase")
    assert len(wanted) > len(CHANGES) * SENT_IN_EACH / 2
    # The emulator ends the process of a function that is replaced, and GitHub gets a 502. The reconciler has such a
    # delivery sent again.
    failed = [each for each in refused if not each.forged]
    assert all(each.refusal and each.refusal.startswith("502") for each in failed)
    assert [each.refusal for each in map(journey.traffic.redeliver, failed)] == [None] * len(failed)
    again = {(each.key, each.guid) for each in failed}
    eventually(lambda: again <= journey.deployed.recorded())


def test_webhooks_are_copied_in_the_phases_that_copy_and_in_no_other(journey: Journey) -> None:
    for phase, sent in journey.within:
        expected = {key_of(each) for each in sent if not each.refusal}
        assert expected
        if phase.copies_webhooks:
            eventually(partial(_are_copied, journey, expected), f"{phase}: the webhooks are in S3")
        else:
            assert not expected & copied(journey), phase


def test_the_archive_rule_is_there_during_cleanup_only(journey: Journey) -> None:
    rule = archive.rule_id(f"runledger-local-{journey.outputs.region}")
    assert journey.rules == [[rule] if phase is CLEANUP else [] for phase in CHANGES]
