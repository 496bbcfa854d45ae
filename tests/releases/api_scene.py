"""The API of a deployment with releases, and what tests do with it."""

import hashlib
import json
from typing import Any

import pytest
from runledger.platform.clients import client as aws_client
from runledger.releases.recorder import HeadRecorder
from runledger.tables import schema
from runledger.tables.heads import HeadsTable

from tests.api.client import Client, Response, stored
from tests.api.conftest import ELSEWHERE, api, ledger
from tests.functions.conftest import World, world
from tests.support.webhooks import INSTALLATION, QUEUED, receipt

__all__ = ["api", "ledger", "world"]

HERE = f"/v1/installations/{INSTALLATION}"
PUBLISHER, STRANGER = "a-token-of-a-publisher", "a-token-of-a-publisher-elsewhere"
UI, MAIN, CI = "acme/ui", "main", 7
RETENTION_DAYS = 90


@pytest.fixture
def client(world: World, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Client:
    """The API of a deployment with releases, an installation, and tokens of publishers."""
    queue = world.sqs.create_queue(QueueName="releases.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    for name, value in {
        "RELEASES_TABLE": "releases",
        "RELEASES_RETENTION_DAYS": str(RETENTION_DAYS),
        "RELEASE_INPUTS_QUEUE": queue,
    }.items():
        monkeypatch.setenv(name, value)
    found: Client = request.getfixturevalue("api")
    request.getfixturevalue("ledger").record(receipt(QUEUED))
    secret = stored(scoped_to=[ELSEWHERE])
    for name, token, scope in (("paul", PUBLISHER, "*"), ("sara", STRANGER, [ELSEWHERE])):
        digest = hashlib.sha256(token.encode()).hexdigest()
        secret["tokens"].append({"name": name, "role": "publisher", "sha256": digest, "installations": scope})
    world.secrets.put_secret_value(SecretId="tokens", SecretString=json.dumps(secret))
    return found


def put(client: Client, path: str, body: object, *, token: str = PUBLISHER) -> Response:
    return client.with_token(token).request("PUT", f"{HERE}/{path}", body=json.dumps(body))


def recorder() -> HeadRecorder:
    table = HeadsTable(aws_client("dynamodb"), schema.RELEASES.name, retention_days=RETENTION_DAYS)
    return HeadRecorder(table=table)


def runs(*found: dict[str, Any]) -> None:
    recorder().record_runs(found)


def deployments(*found: dict[str, Any]) -> None:
    recorder().record_deployments(found)


def run(run_id: int, conclusion: str | None = "success", sha: str = "a" * 40, **changes: Any) -> dict[str, Any]:
    """An item of workflow_runs, on the default branch unless `head_branch` is another."""
    ended = {"status": "completed", "conclusion": conclusion} if conclusion else {"status": "in_progress"}
    return {
        "installation_id": INSTALLATION,
        "repo_full_name": UI,
        "head_branch": MAIN,
        "default_branch": MAIN,
        "workflow_id": CI,
        "workflow_name": "CI",
        "run_id": run_id,
        "run_attempt": 1,
        "event": "push",
        "actor": "octocat",
        "head_sha": sha,
        "created_at": f"2025-01-15T10:{run_id:02}:00.000Z",
        "updated_at": f"2025-01-15T10:{run_id:02}:30.000Z",
        **ended,
        **changes,
    }


def deployment(deployment_id: int, sha: str = "a" * 40, **changes: Any) -> dict[str, Any]:
    """An item of deployments."""
    return {
        "installation_id": INSTALLATION,
        "repo_full_name": UI,
        "environment": "production",
        "deployment_id": deployment_id,
        "head_sha": sha,
        "created_at": f"2025-01-10T09:{deployment_id:02}:00.000Z",
        **changes,
    }
