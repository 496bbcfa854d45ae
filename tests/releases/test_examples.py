"""Every example of runs and deployments that GitHub publishes, from the webhook to its head."""

from typing import Any

import pytest
from runledger.releases.heads import colour_of
from runledger.tables.attributes import from_attributes
from runledger.webhooks.readers import dispatcher
from runledger.webhooks.readers.deployments import state_times

from local.github.examples import payloads
from tests.feeds.streams import record_changes
from tests.releases.scenes import empty_engine, stream
from tests.support.ledgers import ledger_on
from tests.support.webhooks import delivery

STREAMED = ("workflow_runs", "deployments")


def examples(event: str) -> pytest.MarkDecorator:
    found = payloads(event)
    names = [f"{number}-{each.get('action', 'none')}" for number, each in enumerate(found)]
    return pytest.mark.parametrize("example", found, ids=names)


def heads_after(event: str, example: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The items of `releases` after the webhook and the streams, by the kind in their keys."""
    engine = empty_engine()
    records = record_changes(engine)
    ledger = ledger_on(engine)  # type: ignore[arg-type]
    for entry in dispatcher.read(delivery(example, guid="an example", event=event)):
        ledger.dispatch(entry)
    for record in [each for each in records if each["eventSourceARN"].split("/")[1] in STREAMED]:
        assert stream(engine).process([record]) == {"batchItemFailures": []}
    found: dict[str, list[dict[str, Any]]] = {}
    for (partition, _), item in engine.snapshot().items["releases"].items():
        found.setdefault(partition.split("#")[1], []).append(from_attributes(item))
    return found


@examples("workflow_run")
def test_a_run_becomes_a_head_unless_it_is_that_of_a_pull_request_or_a_fork(example: dict[str, Any]) -> None:
    found, run = heads_after("workflow_run", example), example["workflow_run"]
    is_fork = run["head_repository"]["id"] != example["repository"]["id"]
    if is_fork or run["event"].startswith("pull_request"):
        assert found == {}
        return
    is_default = run["head_branch"] == example["repository"]["default_branch"]
    (head,) = found["heads" if is_default else "branch_heads"]
    assert (head["branch"], head["workflow_id"]) == (run["head_branch"], run["workflow_id"])
    assert (head["last_run"]["run_id"], head["last_run"]["head_sha"]) == (run["id"], run["head_sha"])
    status = "completed" if "completed" in (example["action"], run["status"]) else "queued"
    assert head["state"] == (colour_of({"status": status, "conclusion": run["conclusion"]}) or "none")
    assert ("commits" in found) == (status == "completed")


@examples("deployment_status")
def test_the_status_of_a_deployment_reaches_its_environment(example: dict[str, Any]) -> None:
    (head,) = heads_after("deployment_status", example)["environments"]
    reported, status = example["deployment"], example["deployment_status"]
    assert (head["environment"], head["latest"]["deployment_id"]) == (reported["environment"], reported["id"])
    expected = state_times([status])
    assert {name: head["latest"][name] for name in expected} == expected
    assert ("current" in head) == (status["state"] == "success")
    assert head["is_active"] == (status["state"] == "success")


@examples("deployment")
def test_a_new_deployment_is_pending(example: dict[str, Any]) -> None:
    (head,) = heads_after("deployment", example)["environments"]
    assert (head["latest"]["state"], head["latest"]["head_sha"]) == ("pending", example["deployment"]["sha"])
    assert (head["is_active"], "current" in head) == (False, False)
