"""Signed webhooks over HTTP are stored in the tables."""

import json
import random
import subprocess
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from local.aws.outputs import Outputs
from local.github import webhooks as github_webhooks
from local.github.examples import payloads
from tests.e2e.tables import history, job
from tests.support.webhooks import INSTALLATION, LIFE, QUEUED, payload

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NO_INSTANCE = "a-name-that-leads-to-no-instance"
ROOT = Path(__file__).parent.parent.parent


def post(outputs: Outputs, message: object, *, guid: str, **headers: str) -> github_webhooks.Response:
    body = json.dumps(message).encode()
    sent = github_webhooks.headers("workflow_job", body, outputs.webhook_secret, delivery_id=guid) | headers
    return github_webhooks.post(outputs.webhook_url, body, sent)


def test_every_example_signed_by_octokit_is_accepted_and_found(outputs: Outputs, dynamodb: "DynamoDBClient") -> None:
    examples = payloads("workflow_job")
    bodies = [json.dumps(example) for example in examples]
    signing = subprocess.run(
        ["node", "tests/e2e/octokit_sign.mjs", outputs.webhook_secret],
        cwd=ROOT,
        input=json.dumps(bodies),
        capture_output=True,
        check=True,
        text=True,
    )
    for example, body, signature in zip(examples, bodies, json.loads(signing.stdout), strict=True):
        guid = str(uuid.uuid4())
        sent = github_webhooks.headers("workflow_job", body.encode(), "not used", delivery_id=guid)
        response = github_webhooks.post(outputs.webhook_url, body.encode(), sent | {"X-Hub-Signature-256": signature})
        assert response.status == 202, response.body
        installation = (example.get("installation") or {"id": 0})["id"]
        key = f"{installation}#{example['workflow_job']['id']}"
        found = job(dynamodb, outputs, key)
        assert found is not None
        assert found["repo_full_name"] == example["repository"]["full_name"]
        assert found["run_id"] == example["workflow_job"]["run_id"]
        assert guid in [line["delivery_id"] for line in history(dynamodb, outputs, key)]


def test_webhooks_of_a_job_in_disorder_with_redeliveries_end_in_the_right_job(
    outputs: Outputs, dynamodb: "DynamoDBClient"
) -> None:
    job_id = 1_000_001
    steps = [*LIFE, *LIFE]
    random.Random(7).shuffle(steps)  # noqa: S311
    for step in steps:
        assert (
            post(outputs, payload(step, job_id=job_id, runner_name=NO_INSTANCE), guid=f"{step} of {job_id}").status
            == 202
        )
    key = f"{INSTALLATION}#{job_id}"
    found = job(dynamodb, outputs, key)
    assert found is not None
    assert (found["status"], found["conclusion"], found["usage_in_seconds"]) == ("completed", "success", 615)
    lines = history(dynamodb, outputs, key)
    assert len(lines) == len(steps)
    assert sum(1 for line in lines if line.get("duplicate")) == len(LIFE)
    assert all(line["received_by"] for line in lines)


def test_concurrent_deliveries_for_one_job_lose_nothing(outputs: Outputs, dynamodb: "DynamoDBClient") -> None:
    job_id = 1_000_002
    steps = [f"{LIFE[n % 5]}" for n in range(20)]

    def deliver(n: int) -> int:
        message = payload(steps[n], job_id=job_id, runner_name=NO_INSTANCE, check_run_url=f"hook {n}")
        return post(outputs, message, guid=f"{n} of {job_id}").status

    with ThreadPoolExecutor(max_workers=8) as pool:
        assert set(pool.map(deliver, range(len(steps)))) == {202}
    found = job(dynamodb, outputs, f"{INSTALLATION}#{job_id}")
    assert found is not None
    assert (found["status"], found["version"]) == ("completed", 20)
    assert len(history(dynamodb, outputs, f"{INSTALLATION}#{job_id}")) == 20


BAD: dict[str, tuple[dict[str, Any], dict[str, str], int]] = {
    "no signature": ({}, {"X-Hub-Signature-256": ""}, 401),
    "a wrong signature": ({}, {"X-Hub-Signature-256": "sha256=" + "0" * 64}, 401),
    "no job": ({"workflow_job": None}, {}, 400),
    "an unknown action": ({"action": "paused"}, {}, 200),
    "an unknown event": ({}, {"X-GitHub-Event": "star"}, 200),
}


@pytest.mark.parametrize(("changes", "headers", "status"), BAD.values(), ids=BAD)
def test_bad_input_gets_a_clear_response_and_changes_nothing(
    outputs: Outputs, dynamodb: "DynamoDBClient", changes: dict[str, Any], headers: dict[str, str], status: int
) -> None:
    job_id = 1_000_003
    response = post(outputs, payload(QUEUED, job_id=job_id) | changes, guid="bad", **headers)
    assert response.status == status
    assert job(dynamodb, outputs, f"{INSTALLATION}#{job_id}") is None
    assert history(dynamodb, outputs, f"{INSTALLATION}#{job_id}") == []


def test_over_five_megabytes_is_413(outputs: Outputs) -> None:
    assert post(outputs, {"padding": "x" * 5_000_000}, guid="large").status == 413
