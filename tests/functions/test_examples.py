"""Every workflow_job example that GitHub publishes, github.com's and Enterprise Server's, through the handler."""

import json
from typing import Any

import pytest

from local.github.examples import payloads
from tests.functions.conftest import World
from tests.support.beds import items
from tests.support.ledgers import EVENTS, JOBS
from tests.support.webhooks import http_event

EXAMPLES = payloads("workflow_job")


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"{n}-{each['action']}" for n, each in enumerate(EXAMPLES)])
def test_an_example_is_stored_with_all_its_values(world: World, example: dict[str, Any]) -> None:
    response = world.invoke("webhook_intake", http_event(json.dumps(example).encode()))
    assert response["statusCode"] == 202
    job = next(item for item in items(world.dynamodb, JOBS) if item["SK"] == "v")
    (line,) = items(world.dynamodb, EVENTS)
    reported, repository = example["workflow_job"], example["repository"]
    installation = (example.get("installation") or {"id": 0})["id"]
    assert job["PK"] == line["PK"] == f"{installation}#{reported['id']}"
    expected = {
        "run_id": reported["run_id"],
        "run_attempt": reported.get("run_attempt", 1),
        "repo_full_name": repository["full_name"],
        "org_name": repository["owner"]["login"],
        "repo_is_private": repository["private"],
        "default_branch": repository["default_branch"],
        "job_name": reported["name"],
        "head_sha": reported["head_sha"],
        "head_branch": reported.get("head_branch"),
        "workflow_name": reported.get("workflow_name"),
        "job_html_url": reported["html_url"],
        "labels": reported["labels"],
        "status": reported["status"],
        "conclusion": reported["conclusion"],
        "deployment_id": example.get("deployment", {}).get("id"),
    }
    assert {name: job.get(name) for name in expected} == expected
    assert job["created_at"][:19] == (reported.get("created_at") or reported["started_at"])[:19]
    if reported["status"] in ("in_progress", "completed"):
        assert (job["runner_id"], job["runner_name"]) == (reported["runner_id"], reported["runner_name"])
        assert job["started_at"][:19] == reported["started_at"][:19]
    if reported["status"] == "completed":
        assert job["completed_at"][:19] == reported["completed_at"][:19]
        assert job["usage_in_seconds"] == 198
        assert job["overall_queue_duration_in_ms"] == 60_000
    assert (line["event_type"], line["action"]) == (f"webhook_{example['action']}", example["action"])
    assert (line["source"], line["status"]) == ("github_webhook", job["status"])


def test_every_set_of_examples_is_tested() -> None:
    assert len(EXAMPLES) == 11
