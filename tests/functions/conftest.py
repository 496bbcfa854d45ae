"""The real handlers in an AWS of moto's: tables from the template, a secret, a queue."""

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
from runledger import aws, github_runtime, reconciler_runtime, runner_runtime, runtime
from runledger.runner_names import INSTANCE_ID

from local.github import SimulatedGitHub
from local.github.credentials import APP_ID
from tests.beds import create_tables
from tests.functions.reconciling import Scene
from tests.ledgers import DEPLOYMENTS, EVENTS, JOBS, RUNNERS, RUNS
from tests.synthesis import Templates
from tests.webhooks import INSTALLATION, REPO, SECRET

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient

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
def world(templates: Templates, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with mock_aws():
        dynamodb, sqs, secrets = boto3.client("dynamodb"), boto3.client("sqs"), boto3.client("secretsmanager")
        create_tables(dynamodb, templates["data"])
        queue_url = sqs.create_queue(QueueName="retries")["QueueUrl"]
        secret_arn = secrets.create_secret(Name="webhook", SecretString=json.dumps({"current": SECRET}))["ARN"]
        for name, value in {
            "JOBS_TABLE": JOBS,
            "JOB_EVENTS_TABLE": EVENTS,
            "JOBS_RETENTION_DAYS": "90",
            "JOB_EVENTS_RETENTION_DAYS": "14",
            "RUNS_TABLE": RUNS,
            "RUNS_RETENTION_DAYS": "90",
            "DEPLOYMENTS_TABLE": DEPLOYMENTS,
            "DEPLOYMENTS_RETENTION_DAYS": "90",
            "RUNNERS_TABLE": RUNNERS,
            "RUNNERS_RETENTION_DAYS": "14",
            "RUNNER_LOOKUPS_QUEUE": sqs.create_queue(QueueName="lookups")["QueueUrl"],
            "RERUN_CHECKS_QUEUE": sqs.create_queue(QueueName="reruns")["QueueUrl"],
            "INSTANCE_ID_PATTERN": INSTANCE_ID,
            "POOL_TAGS": "pool",
            "ECS_CLUSTER": "default",
            "AWS_REGION": "us-east-1",
            "RUNNER_TAGS": "runner=yes",
            "ORPHANS": "enforce",
            "ORPHAN_GRACE_MINUTES": "10",
            "STUCK_QUEUED_MINUTES": "10",
            "STUCK_SCHEDULED_MINUTES": "10",
            "LONG_RUNNING_HOURS": "6",
            "FORGOTTEN_APPROVAL_HOURS": "24",
            "RUNNER_REQUESTS_AT_MOST": "3",
            "REDELIVERIES_AT_MOST": "3",
            "GITHUB_BUDGET_FOR_OTHERS_PERCENT": "50",
            "EVENT_BUS": "runledger-test",
            "WEBHOOK_SECRETS": secret_arn,
            "WEBHOOK_RETRIES_QUEUE": queue_url,
        }.items():
            monkeypatch.setenv(name, value)

        def start(function: str) -> ModuleType:
            """A cold start: nothing is kept from an earlier one (but the clients, which take long to make)."""
            for wiring in (runtime, runner_runtime, github_runtime, reconciler_runtime):
                for wired in vars(wiring).values():
                    if wired is not aws.client and hasattr(wired, "cache_clear"):
                        wired.cache_clear()
            sys.modules.pop(function, None)
            return importlib.import_module(function)

        aws.client.cache_clear()
        yield World(dynamodb, sqs, secrets, queue_url, secret_arn, start)
        for function in FUNCTIONS:
            sys.modules.pop(function, None)


@pytest.fixture(scope="session")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One key for all tests, because making one takes longer than any of them."""
    return tmp_path_factory.mktemp("github") / "app.pem"


@pytest.fixture
def github(key_file: Path) -> Iterator[SimulatedGitHub]:
    with SimulatedGitHub(key_file=key_file) as simulated:
        simulated.state.put("installations", INSTALLATION, account=REPO.partition("/")[0])
        yield simulated


@pytest.fixture
def scene(world: World, github: SimulatedGitHub, monkeypatch: pytest.MonkeyPatch) -> Scene:
    app = {"app_id": str(APP_ID), "private_key": github.state.credentials.private_key}
    secret = world.secrets.create_secret(Name="app", SecretString=json.dumps(app))["ARN"]
    monkeypatch.setenv("GITHUB_APP", secret)
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("ORPHAN_GRACE_MINUTES", "0")
    world.client("events").create_event_bus(Name="runledger-test")
    return Scene(world, github)
