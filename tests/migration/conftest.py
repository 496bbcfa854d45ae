"""An emulated AWS with the tables, a bucket, and what `runledger migrate` finds them by."""

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import boto3
import pytest
from runledger.platform import clients
from runledger.wiring import recording

from local.aws import emulator
from tests.cli.command import runledger
from tests.support import beds
from tests.support.settings import SETTINGS, forget_wiring
from tests.support.synthesis import Template, Templates
from tests.support.webhooks import SECRET

BUCKET, STAGE = "acme-runners", "prod"
STACK = {
    "Resources": {"Nothing": {"Type": "AWS::SQS::Queue"}},
    "Outputs": {"WebhookIntakeFunction": {"Value": "intake"}},
}


@dataclass
class Account:
    url: str
    state: Path
    template: Template

    def client(self, service: Any) -> Any:
        return boto3.client(service, endpoint_url=self.url)

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables of the command's process."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "XDG_STATE_HOME": str(self.state),
        }

    def runledger(self, *arguments: str) -> CompletedProcess[str]:
        return runledger(*arguments, folder=None, **self.variables)

    def json(self, *arguments: str, exit_code: int = 0) -> dict[str, Any]:
        done = self.runledger(*arguments, "--json")
        assert done.returncode == exit_code, done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        return beds.dump(self.client("dynamodb"))

    def empty_tables(self) -> None:
        """Created again: deleting thousands of items takes minutes."""
        dynamodb = self.client("dynamodb")
        beds.delete_tables(dynamodb)
        beds.create_tables(dynamodb, self.template)

    def put(self, key: str, body: bytes, **options: Any) -> None:
        self.client("s3").put_object(Bucket=BUCKET, Key=key, Body=body, **options)


@pytest.fixture(scope="package")
def emulated(tmp_path_factory: pytest.TempPathFactory, templates: Templates) -> Iterator[str]:
    with emulator.running(tmp_path_factory.mktemp("migration")) as url:
        clients_: dict[str, Any] = {
            name: boto3.client(name, endpoint_url=url) for name in ("dynamodb", "s3", "lambda", "iam")
        }
        beds.create_tables(clients_["dynamodb"], templates["data"])
        clients_["s3"].create_bucket(Bucket=BUCKET)
        _create_intake(clients_["iam"], clients_["lambda"])
        boto3.client("cloudformation", endpoint_url=url).create_stack(
            StackName=f"runledger-{STAGE}-api", TemplateBody=json.dumps(STACK)
        )
        boto3.client("secretsmanager", endpoint_url=url).create_secret(
            Name=SETTINGS["WEBHOOK_SECRETS"], SecretString=json.dumps({"current": SECRET})
        )
        yield url


def _create_intake(iam: Any, functions: Any) -> None:
    """Create intake with the environment of the real function: only that is read."""
    trust = {"Version": "2012-10-17", "Statement": []}
    role = iam.create_role(RoleName="intake", AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("webhook_intake.py", "")
    names = [name for name in SETTINGS if name.endswith(("_TABLE", "_RETENTION_DAYS"))]
    functions.create_function(
        FunctionName="intake",
        Runtime="python3.13",
        Role=role,
        Handler="webhook_intake.handler",
        Code={"ZipFile": packed.getvalue()},
        Environment={"Variables": {name: SETTINGS[name] for name in (*names, "GITHUB_HOST")}},
    )


@pytest.fixture
def account(emulated: str, tmp_path: Path, templates: Templates) -> Iterator[Account]:
    """Empty tables and an empty bucket."""
    made = Account(url=emulated, state=tmp_path / "state", template=templates["data"])
    yield made
    made.empty_tables()
    s3 = made.client("s3")
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
        for found in page.get("Contents", []):
            s3.delete_object(Bucket=BUCKET, Key=found["Key"])


@pytest.fixture
def live(account: Account, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Live intake in the phase `dual_write`, as its function wires it."""
    phase = {"STORAGE_PHASE": "dual_write", "WEBHOOK_BUCKET": BUCKET}
    pattern = {"WEBHOOK_KEY_PATTERN": "webhooks/{installation_id}/{job_id}/{status}.json"}
    for name, value in (SETTINGS | phase | pattern | {"AWS_ENDPOINT_URL": account.url}).items():
        monkeypatch.setenv(name, value)
    clients.client.cache_clear()
    clients.session.cache_clear()
    forget_wiring()
    yield recording.intake()
    clients.client.cache_clear()
    clients.session.cache_clear()
    forget_wiring()
