"""The real handlers on moto, with tables in memory, a secret and queues."""

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws
from runledger.migration.key_pattern import DEFAULT
from runledger.platform import clients as aws

from local.github import SimulatedGitHub
from local.github.credentials import APP_ID
from tests.support.beds import KEEP_SESSION
from tests.support.memory import tables_in_memory
from tests.support.reconciler_scene import Scene
from tests.support.settings import SETTINGS, forget_wiring
from tests.support.webhooks import SECRET

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient

BUCKET, ROLE = "acme-runners", "AROAEXAMPLEEXAMPLE123"
Metrics = Callable[[], set[str]]
FUNCTIONS = [file.stem for file in (Path(__file__).parent.parent.parent / "functions").glob("*.py")]


@dataclass
class World:
    dynamodb: "DynamoDBClient"
    sqs: "SQSClient"
    secrets: "SecretsManagerClient"
    queue_url: str
    secret_arn: str
    start: Callable[[str], ModuleType]

    def invoke(self, function: str, event: dict[str, Any]) -> Any:
        """A warm function: started by the first call, and kept."""
        module = sys.modules.get(function) or self.start(function)
        return module.handler(
            event, SimpleNamespace(aws_request_id="a-request", get_remaining_time_in_millis=lambda: 600_000)
        )

    def client(self, service: Any) -> Any:
        return boto3.client(service)

    def deferred(self) -> list[dict[str, str]]:
        return self.waiting("retries")

    def waiting(self, queue: str) -> list[dict[str, str]]:
        """Its messages, as Lambda would be given them; they are gone from the queue."""
        url = self.sqs.get_queue_url(QueueName=queue)["QueueUrl"]
        messages = self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        return [{"messageId": each["MessageId"], "body": each["Body"], "eventSource": "aws:sqs"} for each in messages]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with mock_aws(config=KEEP_SESSION), tables_in_memory():
        dynamodb, sqs, secrets = boto3.client("dynamodb"), boto3.client("sqs"), boto3.client("secretsmanager")
        queue_url = sqs.create_queue(QueueName="retries")["QueueUrl"]
        secret_arn = secrets.create_secret(Name="webhook", SecretString=json.dumps({"current": SECRET}))["ARN"]
        of_this_world = {
            "RUNNER_LOOKUPS_QUEUE": sqs.create_queue(QueueName="lookups")["QueueUrl"],
            "RERUN_CHECKS_QUEUE": sqs.create_queue(QueueName="reruns")["QueueUrl"],
            "WEBHOOK_RETRIES_QUEUE": queue_url,
            "WEBHOOK_SECRETS": secret_arn,
            "EVENT_BUS": "runledger-test",
            "ORPHANS": "enforce",
        }
        for name, value in (SETTINGS | of_this_world).items():
            monkeypatch.setenv(name, value)

        def start(function: str) -> ModuleType:
            """A cold start: nothing is kept from an earlier one except the clients."""
            forget_wiring(function)
            sys.modules.pop(function, None)
            return importlib.import_module(function)

        aws.client.cache_clear()
        _stop_functions()  # other tests import them, too
        yield World(dynamodb, sqs, secrets, queue_url, secret_arn, start)
        _stop_functions()


def _stop_functions() -> None:
    for function in FUNCTIONS:
        sys.modules.pop(function, None)


@pytest.fixture
def scene(world: World, github: SimulatedGitHub, monkeypatch: pytest.MonkeyPatch) -> Scene:
    app = {"app_id": str(APP_ID), "private_key": github.state.credentials.private_key}
    secret = world.secrets.create_secret(Name="app", SecretString=json.dumps(app))["ARN"]
    monkeypatch.setenv("GITHUB_APP", secret)
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("ORPHAN_GRACE_MINUTES", "0")
    world.client("events").create_event_bus(Name="runledger-test")
    return Scene(world, github)


@pytest.fixture
def s3(world: World) -> Any:
    client = world.client("s3")
    client.create_bucket(Bucket=BUCKET)
    return client


@pytest.fixture
def dual_write(s3: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    phase = {"STORAGE_PHASE": "dual_write", "WEBHOOK_BUCKET": BUCKET, "WEBHOOK_KEY_PATTERN": DEFAULT}
    for name, value in phase.items():
        monkeypatch.setenv(name, value)
    return s3


@pytest.fixture
def dynamodb_first(dual_write: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    phase = {"STORAGE_PHASE": "dynamodb_first", "RUNNER_CONFIG_BUCKET": BUCKET, "RUNNER_ROLE_IDS": f"AROAOTHER,{ROLE}"}
    for name, value in phase.items():
        monkeypatch.setenv(name, value)
    return dual_write


@pytest.fixture
def metrics(capsys: pytest.CaptureFixture[str]) -> Metrics:
    """The names of the metrics that were emitted since the last call."""

    def emitted() -> set[str]:
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
        definitions = [each for line in lines for each in line.get("_aws", {}).get("CloudWatchMetrics", [])]
        return {metric["Name"] for definition in definitions for metric in definition["Metrics"]}

    return emitted
