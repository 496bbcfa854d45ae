"""The phase `dynamodb_first`: scheduling attributes that the ledger lacks come from the runner config in S3."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto.backends import get_backend
from runledger.migration.runner_configs import RunnerConfigs, config_key

from tests.functions.conftest import BUCKET, ROLE, Metrics, World
from tests.functions.test_storage_phases import deliver
from tests.support.beds import dump, items
from tests.support.ledgers import JOBS
from tests.support.runner_events import batch, launcher
from tests.support.webhooks import COMPLETED, IN_PROGRESS, QUEUED

LAUNCHED_AT = datetime(2025, 1, 15, 10, 2, tzinfo=UTC)
JIT = "eyJzZWNyZXQtaml0LXRva2VuIjoiMSJ9"
SECRETS = {"jit_config": JIT, "ssh_keys": ["ssh-ed25519 AAAASECRETKEY"], "remove_token": "REMOVETOKEN"}
CONFIG = {
    **SECRETS,
    "runner_name": "runner",
    "pool_name": "from-s3",
    "instance_lifecycle": "spot",
}


def start_job_on_a_machine(
    world: World, s3: Any, config: Any, *, role: str = ROLE, tag: str = "runner", hours_before: float | None = None
) -> str:
    """Use an instance that no launcher reported, with a runner config in S3 and `scheduled_at` before the launch."""
    instance_id = start_instance(world, tag)
    if hours_before is not None:
        config = config | {"scheduled_at": (LAUNCHED_AT - timedelta(hours=hours_before)).isoformat()}
    body = config if isinstance(config, bytes) else json.dumps(config).encode()
    s3.put_object(Bucket=BUCKET, Key=config_key(role, instance_id), Body=body)
    deliver(world, IN_PROGRESS, runner_name=f"runner-{instance_id}")
    world.invoke("runner_lookup", {"Records": world.waiting("lookups")})
    return instance_id


def start_instance(world: World, tag: str = "runner") -> str:
    tags = [{"ResourceType": "instance", "Tags": [{"Key": tag, "Value": "yes"}]}]
    started = world.client("ec2").run_instances(
        ImageId="ami-12345678", MinCount=1, MaxCount=1, InstanceType="c7i.large", TagSpecifications=tags
    )
    instance_id = str(started["Instances"][0]["InstanceId"])
    get_backend("ec2")["123456789012"]["us-east-1"].get_instance(instance_id).launch_time = LAUNCHED_AT
    return instance_id


def the_job(world: World) -> dict[str, Any]:
    (job,) = [each for each in items(world.dynamodb, JOBS) if each["SK"] == "v"]
    return job


def test_scheduling_attributes_fall_back_to_the_runner_config(
    world: World, dynamodb_first: Any, metrics: Metrics
) -> None:
    instance_id = start_job_on_a_machine(world, dynamodb_first, CONFIG, hours_before=0.01)
    job = the_job(world)
    assert (job["instance_id"], job["instance_type"]) == (instance_id, "c7i.large")
    assert (job["pool_name"], job["scheduled_at"]) == ("from-s3", "2025-01-15T10:01:24.000Z")
    counted = metrics()
    assert "SchedulingFallbacks" in counted
    assert not {"SchedulingMisses", "SchedulingHits"} & counted


@pytest.mark.parametrize("hours_before", [24.1, 100 * 365 * 24, -0.01, -24 * 365])
def test_a_time_that_cannot_be_that_of_the_request_is_ignored(
    world: World, dynamodb_first: Any, hours_before: float
) -> None:
    start_job_on_a_machine(world, dynamodb_first, CONFIG, hours_before=hours_before)
    assert the_job(world)["scheduled_at"] == "2025-01-15T10:02:00.000Z"
    assert the_job(world)["pool_name"] == "from-s3"


def test_without_a_runner_config_what_ec2_reports_is_used(world: World, dynamodb_first: Any, metrics: Metrics) -> None:
    start_job_on_a_machine(world, dynamodb_first, CONFIG, role="AROANOTOURS")
    assert the_job(world)["instance_type"] == "c7i.large"
    assert "SchedulingMisses" in metrics()


def test_a_wrong_bucket_costs_the_config_and_not_the_machine(
    world: World, dynamodb_first: Any, monkeypatch: pytest.MonkeyPatch, metrics: Metrics
) -> None:
    monkeypatch.setenv("RUNNER_CONFIG_BUCKET", "not-there")
    start_job_on_a_machine(world, dynamodb_first, CONFIG)
    assert the_job(world)["instance_type"] == "c7i.large"
    assert "RunnerConfigsRejected" in metrics()


def test_a_config_to_which_access_is_denied_is_no_miss(
    world: World, dynamodb_first: Any, monkeypatch: pytest.MonkeyPatch, metrics: Metrics
) -> None:
    """Otherwise a wrong policy looks as if no fallback were needed any more."""

    def denied(*_: object, **__: object) -> None:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "GetObject")

    monkeypatch.setattr(RunnerConfigs, "_get", denied)
    start_job_on_a_machine(world, dynamodb_first, CONFIG)
    assert the_job(world)["instance_type"] == "c7i.large"
    assert "RunnerConfigsRejected" in metrics()
    assert "SchedulingMisses" not in metrics()


def test_the_config_of_a_machine_that_is_no_runner_is_not_read(
    world: World, dynamodb_first: Any, metrics: Metrics
) -> None:
    """A runner can be registered under any name, such as one with the id of any instance of the account."""
    start_job_on_a_machine(world, dynamodb_first, CONFIG, tag="database")
    assert not {"pool_name", "instance_type"} & the_job(world).keys()
    assert not {"SchedulingFallbacks", "SchedulingMisses"} & metrics()


@pytest.mark.usefixtures("dynamodb_first")
def test_scheduling_attributes_in_the_ledger_are_a_hit(world: World, metrics: Metrics) -> None:
    instance_id = start_instance(world)
    deliver(world, QUEUED)
    world.invoke("scheduling_events", batch(launcher("runner_scheduled", runner_id=instance_id)))
    deliver(world, IN_PROGRESS, runner_name=f"runner-{instance_id}")
    assert world.waiting("lookups") == []
    assert "SchedulingHits" in metrics()


def test_other_phases_read_no_runner_config(world: World, dual_write: Any, metrics: Metrics) -> None:
    start_job_on_a_machine(world, dual_write, CONFIG)
    assert "pool_name" not in the_job(world)
    assert not {"SchedulingHits", "SchedulingFallbacks", "SchedulingMisses"} & metrics()


@pytest.mark.parametrize("config", [b"no json " + JIT.encode(), [JIT], {**SECRETS, "scheduled_at": JIT}, CONFIG])
def test_no_part_of_a_jit_config_reaches_a_table_or_a_log(
    world: World,
    dynamodb_first: Any,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    config: object,
) -> None:
    caplog.set_level("DEBUG")
    start_job_on_a_machine(world, dynamodb_first, config)
    deliver(world, COMPLETED)
    written, tables = capfd.readouterr(), repr(dump(world.dynamodb))
    lines = [repr(vars(each)) for each in caplog.records if each.name.startswith(("runledger", "service"))]
    everything = written.out + written.err + tables + "".join(lines)
    assert "workflow_job" in tables
    for secret in (JIT, "AAAASECRETKEY", "REMOVETOKEN"):
        assert secret not in everything
