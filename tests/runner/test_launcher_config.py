"""The reference writer: what it writes matches the schema, and the entrypoint reads it by its URL alone."""

import base64
import json
from pathlib import Path
from typing import Any

import boto3
import jsonschema
import pytest
from botocore.config import Config
from moto import mock_aws

from runner import config as entrypoint
from runner.config import BadConfig
from runner.launcher_config import check, write
from tests.support.beds import KEEP_SESSION

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "runner-config.v1.schema.json").read_text())
SECRET = base64.b64encode(b"a-secret").decode()
JIT = base64.b64encode(json.dumps({".runner": SECRET}).encode()).decode()
CONFIG: dict[str, Any] = {
    "jit_config": JIT,
    "runner_name": "runner-1",
    "labels": ["self-hosted"],
    "repo": "acme/web",
    "ssh_keys": ["ssh-ed25519 AAAA ana"],
    "tags": {"team": "ci"},
    "scheduled_at": "2025-01-15T10:00:00Z",
    "instance_type": "c7i.large",
    "instance_lifecycle": "spot",
    "pool_name": "linux",
    "remove_url": "https://launcher.example.com/1",
    "a field of the launcher": True,
}
WRONG: dict[str, Any] = {
    "jit_config": "not base64",
    "runner_name": "",
    "labels": [1],
    "ssh_keys": "one",
    "tags": {"team": 1},
    "scheduled_at": "yesterday",
    "instance_type": "",
    "instance_lifecycle": "reserved",
    "pool_name": 1,
}


SIGNED = Config(signature_version="s3v4", s3={"addressing_style": "virtual"})


def test_a_config_is_written_for_one_machine_and_read_by_its_url() -> None:
    with mock_aws(config=KEEP_SESSION):
        s3 = boto3.client("s3", config=SIGNED)
        s3.create_bucket(Bucket="acme-runners")
        url = write(s3, "acme-runners", machine="AROAEXAMPLE:i-0abc", config=CONFIG)
        (found,) = s3.list_objects_v2(Bucket="acme-runners")["Contents"]
        assert found["Key"] == "runners/AROAEXAMPLE:i-0abc/runner-config.json"
        assert "runners/AROAEXAMPLE%3Ai-0abc/runner-config.json" in url
        body = s3.get_object(Bucket="acme-runners", Key=found["Key"])["Body"].read()
    jsonschema.validate(json.loads(body), SCHEMA)
    assert entrypoint.parse(body).runner_files == {".runner": b"a-secret"}


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-1"])
def test_a_client_whose_urls_a_new_bucket_would_reject_writes_nothing(region: str) -> None:
    """There, boto3 presigns with version 2 of signatures by default."""
    with mock_aws(config=KEEP_SESSION):
        boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="acme-runners")
        s3 = boto3.client("s3", region_name=region)
        with pytest.raises(BadConfig, match="must sign with version 4"):
            write(s3, "acme-runners", machine="AROAEXAMPLE:i-0abc", config=CONFIG)
        assert s3.list_objects_v2(Bucket="acme-runners")["KeyCount"] == 0


def test_a_url_names_the_region_of_its_bucket() -> None:
    with mock_aws(config=KEEP_SESSION):
        s3 = boto3.client("s3", region_name="eu-west-1", config=SIGNED)
        s3.create_bucket(Bucket="acme-runners", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
        url = write(s3, "acme-runners", machine="AROAEXAMPLE:i-0abc", config=CONFIG)
    assert url.startswith("https://acme-runners.s3.eu-west-1.amazonaws.com/")


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_field_is_named_and_its_value_isnt(name: str) -> None:
    with pytest.raises(BadConfig) as refused:
        check(CONFIG | {name: WRONG[name]})
    assert name in str(refused.value)
    assert JIT not in str(refused.value)


@pytest.mark.parametrize("name", sorted(WRONG.keys() - {"jit_config", "scheduled_at"}))
def test_the_schema_rejects_what_the_writer_rejects(name: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(CONFIG | {name: WRONG[name]}, SCHEMA)


@pytest.mark.parametrize("name", ["jit_config", "runner_name"])
def test_required_fields_are_required_by_both(name: str) -> None:
    config = {key: value for key, value in CONFIG.items() if key != name}
    with pytest.raises(BadConfig, match=f"{name} is missing"):
        check(config)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(config, SCHEMA)


@pytest.mark.parametrize("machine", ["i-0abc", "../AROA:i-0abc", "AROA:i-0abc/other", ":"])
def test_a_machine_is_a_role_and_an_instance(machine: str) -> None:
    with pytest.raises(BadConfig, match="machine must be"):
        write(None, "acme-runners", machine=machine, config=CONFIG)


@pytest.mark.parametrize("seconds", [0, -1, 901, 10**9])
def test_a_url_is_valid_for_a_quarter_of_an_hour_at_most(seconds: int) -> None:
    with pytest.raises(BadConfig, match="from 1 to 900"):
        write(None, "acme-runners", machine="AROA:i-1", config=CONFIG, valid_seconds=seconds)


def test_a_client_whose_urls_name_no_region_writes_nothing() -> None:
    """There is no bucket: writing would fail in another way."""
    s3 = boto3.client("s3", region_name="eu-west-1", config=Config(signature_version="s3v4"))
    with pytest.raises(BadConfig, match="must name the region"):
        write(s3, "acme-runners", machine="AROA:i-1", config=CONFIG)


def test_a_token_that_can_remove_every_runner_is_refused() -> None:
    config = {name: value for name, value in CONFIG.items() if name != "remove_url"} | {"remove_token": "a-secret"}
    with pytest.raises(BadConfig, match="use remove_url") as refused:
        check(config)
    assert "a-secret" not in str(refused.value)
    assert entrypoint.parse(json.dumps(config)).remove_token == "a-secret"
