"""A job has the workflow id of its run, whichever of the two was recorded first."""

import json
from typing import Any

import pytest
from runledger.recording.ledger import Ledger
from runledger.webhooks.readers import dispatcher

from local.github.examples import payloads
from tests.api.client import Client
from tests.api.conftest import Live
from tests.functions.conftest import World
from tests.support import messages
from tests.support.beds import items
from tests.support.ledgers import JOBS as JOBS_TABLE
from tests.support.messages import Message
from tests.support.webhooks import INSTALLATION, JOB, REPO, RUN, delivery, http_event

HERE = f"/v1/installations/{INSTALLATION}"
EXAMPLES = payloads("workflow_job")


def report(ledger: Ledger, message: Message) -> int:
    """Returns the workflow id that GitHub reports."""
    event, body = message
    for entry in dispatcher.read(delivery(body, guid="the run", event=event)):
        ledger.dispatch(entry)
    return int(body["workflow_run"]["workflow_id"])


def test_a_job_that_is_recorded_before_its_run_has_the_workflow_id(api: Client, ledger: Ledger, live: Live) -> None:
    live(JOB)
    assert "workflow_id" not in api.get(f"{HERE}/jobs/{JOB}").body
    workflow_id = report(ledger, messages.run("completed"))
    assert api.get(f"{HERE}/jobs/{JOB}").body["workflow_id"] == workflow_id


def test_a_job_that_is_recorded_after_its_run_has_the_workflow_id(api: Client, ledger: Ledger, live: Live) -> None:
    workflow_id = report(ledger, messages.run("requested"))
    live(JOB)
    assert api.get(f"{HERE}/jobs/{JOB}").body["workflow_id"] == workflow_id


def test_lists_runs_and_lookups_have_the_workflow_id_of_each_job(api: Client, ledger: Ledger, live: Live) -> None:
    workflow_id = report(ledger, messages.run("requested"))
    live(JOB)
    live(2, run_id=RUN + 1)
    listed = api.get(f"{HERE}/jobs", repo=REPO).body["items"]
    assert {job["job_id"]: job.get("workflow_id") for job in listed} == {JOB: workflow_id, 2: None}
    run = api.get(f"{HERE}/runs/{RUN}").body
    assert [run["run"]["workflow_id"], *(job["workflow_id"] for job in run["jobs"])] == [workflow_id, workflow_id]
    pasted = f"https://github.com/{REPO}/actions/runs/{RUN}/job/{JOB}"
    assert api.get("/v1/jobs/lookup", url=pasted).body["job"]["workflow_id"] == workflow_id


def test_each_attempt_of_a_run_is_joined_by_its_own_number(api: Client, ledger: Ledger, live: Live) -> None:
    report(ledger, messages.run("requested", attempt=2))
    live(JOB)
    live(2, run_attempt=2)
    listed = api.get(f"{HERE}/jobs", repo=REPO).body["items"]
    assert {job["job_id"]: "workflow_id" in job for job in listed} == {JOB: False, 2: True}


def test_a_page_reads_each_run_once(api: Client, live: Live) -> None:
    units = []
    for job_id, run_id in ((1, RUN), (2, RUN), (3, RUN + 1)):
        live(job_id, run_id=run_id)
        units.append(api.get(f"{HERE}/jobs", repo=REPO).units)
    one, of_the_same_run, of_another_run = units
    assert of_another_run - of_the_same_run > of_the_same_run - one


def test_a_warm_function_reads_the_workflow_of_a_run_once(api: Client, ledger: Ledger, live: Live) -> None:
    report(ledger, messages.run("requested"))
    live(JOB)
    first, second = (api.get(f"{HERE}/jobs", repo=REPO) for _ in range(2))
    assert first.body == second.body
    assert second.units < first.units


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"{n}-{each['action']}" for n, each in enumerate(EXAMPLES)])
def test_githubs_examples_have_no_job_without_a_workflow_id_once_its_run_is_known(
    api: Client, world: World, example: dict[str, Any]
) -> None:
    job = example["workflow_job"]
    event, run = messages.run("requested", run_id=job["run_id"], attempt=job.get("run_attempt", 1))
    run["installation"] = example.get("installation")
    run["repository"] = example["repository"]
    world.invoke("webhook_intake", http_event(json.dumps(example).encode(), guid="job"))
    world.invoke("webhook_intake", http_event(json.dumps(run).encode(), guid="run", event=event))
    (stored,) = [item for item in items(world.dynamodb, JOBS_TABLE) if item["SK"] == "v"]
    found = api.get(f"/v1/installations/{stored['installation_id']}/jobs/{job['id']}").body
    assert found["workflow_id"] == run["workflow_run"]["workflow_id"]
