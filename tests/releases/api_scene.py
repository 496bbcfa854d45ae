"""The API of a deployment with releases, and what tests do with it."""

import hashlib
import json
from typing import Any

import pytest
from runledger.platform.clients import client as aws_client
from runledger.tables import release_keys, schema
from runledger.tables.attributes import to_attributes
from runledger.tables.table import Table

from tests.api.client import Answer, Client, stored
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


def put(client: Client, path: str, body: object, *, token: str = PUBLISHER) -> Answer:
    return client.with_token(token).ask("PUT", f"{HERE}/{path}", body=json.dumps(body))


def write(partition: str, sort: str, **values: Any) -> None:
    table = Table(aws_client("dynamodb"), "releases")
    table.put(to_attributes({schema.PARTITION: partition, schema.SORT: sort, **values}))


def run(run_id: int, conclusion: str | None = "success", sha: str = "a" * 40, **changes: Any) -> dict[str, Any]:
    ended = {"status": "completed", "conclusion": conclusion} if conclusion else {"status": "in_progress"}
    return {"run_id": run_id, "run_attempt": 1, "head_sha": sha, "event": "push", **ended, **changes}


def head(
    repo: str = UI, branch: str = MAIN, workflow: int = CI, *, default: bool = True, runs: Any = (), **changes: Any
) -> None:
    """A head with its runs, newest first."""
    where: dict[str, Any] = {"installation_id": INSTALLATION, "repo_full_name": repo, "branch": branch}
    newest = list(runs) or [run(1)]
    item = {**where, "workflow_id": workflow, "workflow_name": f"W{workflow}", "is_default_branch": default}
    item |= {"state": "green", "since": "2025-01-15T10:00:00.000Z", "last_run": newest[0], "version": 1}
    partition, sort = release_keys.heads_key(INSTALLATION), release_keys.head_sort(repo, branch, workflow)
    if not default:
        partition = release_keys.branch_heads_key(INSTALLATION, repo)
        sort = release_keys.branch_head_sort(branch, workflow)
    write(partition, sort, **item | changes)
    for each in newest:
        key = release_keys.head_runs_key(INSTALLATION, repo, branch, workflow)
        write(key, release_keys.numbered(each["run_id"]), **each)


def deployment(deployment_id: int, sha: str = "a" * 40, **times: str) -> dict[str, Any]:
    state = "success" if "succeeded_at" in times else "failure" if "failed_at" in times else "pending"
    return {"deployment_id": deployment_id, "head_sha": sha, "state": state, **times}


def environment(repo: str = UI, name: str = "production", *deployments: dict[str, Any], **changes: Any) -> None:
    """An environment with its deployments, oldest first."""
    item: dict[str, Any] = {"installation_id": INSTALLATION, "repo_full_name": repo, "environment": name}
    if deployments:
        item |= {"current": deployments[-1], "latest": deployments[-1], "is_active": True, "is_rollback": False}
        item |= {"since": deployments[-1].get("succeeded_at"), "rollback_targets": list(deployments[:-1])}
    write(release_keys.environments_key(INSTALLATION), release_keys.environment_sort(repo, name), **item | changes)
    for each in deployments:
        key = release_keys.environment_deployments_key(INSTALLATION, repo, name)
        write(key, release_keys.numbered(each["deployment_id"]), **each)


def commit(sha: str, committed_at: str, repo: str = UI) -> None:
    write(release_keys.commits_key(INSTALLATION, repo), sha, committed_at=committed_at)
