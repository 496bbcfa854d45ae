"""Every example of runs, deployments and installations that GitHub publishes, through the handler."""

import json
from typing import Any

import pytest
from runledger.model import times
from runledger.webhooks.readers.deployments import state_times

from local.github.examples import payloads
from tests.functions.conftest import World
from tests.support.beds import items
from tests.support.ledgers import DEPLOYMENTS, JOBS, RUNS
from tests.support.webhooks import http_event


def examples(event: str) -> pytest.MarkDecorator:
    found = payloads(event)
    return pytest.mark.parametrize(
        "example", found, ids=[f"{n}-{each.get('action', 'none')}" for n, each in enumerate(found)]
    )


def take(world: World, event: str, example: dict[str, Any]) -> None:
    response = world.invoke("webhook_intake", http_event(json.dumps(example).encode(), event=event))
    assert (response["statusCode"], json.loads(response["body"])) == (202, {"result": "recorded"})


def installation_id(example: dict[str, Any]) -> int:
    return int((example.get("installation") or {"id": 0})["id"])


@examples("workflow_run")
def test_a_run_is_stored(world: World, example: dict[str, Any]) -> None:
    take(world, "workflow_run", example)
    (run,) = items(world.dynamodb, RUNS)
    reported = example["workflow_run"]
    assert run["PK"] == f"{installation_id(example)}#{reported['id']}#{reported.get('run_attempt', 1)}"
    expected = {
        "repo_full_name": example["repository"]["full_name"],
        "workflow_id": reported["workflow_id"],
        "workflow_name": reported["name"] or (example.get("workflow") or {}).get("name") or None,
        "head_sha": reported["head_sha"],
        "head_branch": reported["head_branch"],
        "run_html_url": reported["html_url"],
        # Examples disagree with themselves: whatever is furthest of action and payload is true.
        "status": "completed" if "completed" in (example["action"], reported["status"]) else "queued",
        "conclusion": reported["conclusion"],
        "total_jobs": 0,
        "event": reported["event"],
        "run_number": reported["run_number"],
        "actor": (reported.get("triggering_actor") or reported.get("actor") or {}).get("login"),
        "default_branch": example["repository"]["default_branch"],
        "from_fork": True if reported["head_repository"]["id"] != example["repository"]["id"] else None,
    }
    assert {name: run.get(name) for name in expected} == expected
    assert (run["created_at"][:19], run["updated_at"][:19]) == (
        reported["created_at"][:19],
        reported["updated_at"][:19],
    )
    assert run["head_committed_at"] == times.normalised(reported["head_commit"]["timestamp"])


@examples("deployment")
def test_a_deployment_is_stored(world: World, example: dict[str, Any]) -> None:
    take(world, "deployment", example)
    (found,) = items(world.dynamodb, DEPLOYMENTS)
    assert found["PK"] == f"{installation_id(example)}#{example['deployment']['id']}"
    assert found["environment"] == example["deployment"]["environment"]
    assert found["repo_full_name"] == example["repository"]["full_name"]
    assert (found["status"], found["requires_approval"]) == ("pending", False)
    assert (found["head_sha"], found["ref"]) == (example["deployment"]["sha"], example["deployment"]["ref"])
    assert found["creator"] == example["deployment"]["creator"]["login"]


@examples("deployment_status")
def test_the_status_of_a_deployment_is_stored(world: World, example: dict[str, Any]) -> None:
    take(world, "deployment_status", example)
    (found,) = items(world.dynamodb, DEPLOYMENTS)
    passed = example["deployment_status"]["state"] in ("success", "queued", "in_progress")
    assert found["status"] == ("approved" if passed else "pending")
    reported = {name: found[name] for name in ("succeeded_at", "failed_at", "inactive_at") if name in found}
    assert reported == state_times([example["deployment_status"]])
    assert found.get("run_id") == (example.get("workflow_run") or {}).get("id")
    if example.get("check_run"):
        assert found["job_ids"] == {example["check_run"]["id"]}


@examples("deployment_review")
def test_a_review_waits_at_its_gate(world: World, example: dict[str, Any]) -> None:
    take(world, "deployment_review", example)
    (gate,) = items(world.dynamodb, DEPLOYMENTS)
    run = example["workflow_run"]
    assert gate["PK"] == f"{installation_id(example)}#{run['id']}#{run['run_attempt']}"
    assert gate["SK"] == f"gate#{example['environment']}"
    (review,) = [value for name, value in gate.items() if name.startswith("review_")]
    assert '"pending"' in review


@examples("installation")
def test_an_installation_is_registered(world: World, example: dict[str, Any]) -> None:
    take(world, "installation", example)
    (found,) = items(world.dynamodb, JOBS)
    assert (found["PK"], found["SK"]) == ("installations", str(installation_id(example)))
    assert found["org_name"] == example["installation"]["account"]["login"]
    assert found["status"] == {"deleted": "deleted", "suspend": "suspended"}.get(example["action"], "active")


@examples("installation_repositories")
def test_its_repositories_keep_an_installation_registered(world: World, example: dict[str, Any]) -> None:
    take(world, "installation_repositories", example)
    (found,) = items(world.dynamodb, JOBS)
    assert (found["status"], found["installation_id"]) == ("active", installation_id(example))
    assert found["repository_selection"] == example["installation"]["repository_selection"]
