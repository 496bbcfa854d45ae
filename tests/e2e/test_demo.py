"""The local contract and the demo: everything is there, and every kind of job ends as it should."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from runledger.tables import schema
from runledger.tables.attributes import from_attributes

from local import ROOT
from local.aws.outputs import Outputs
from local.demo import summary
from local.demo.machines import BY_HAND_TYPE
from local.demo.scenarios.catalogue import MATRIX
from local.demo.scenarios.runner_incidents import BY_HAND_POOL
from local.demo.steps import Awaited, Step, bus_events, deliveries
from local.demo.workload import Played
from local.github.control import Control
from tests.e2e.tables import history
from tests.support.deployed import reruns

Tables = dict[str, dict[str, dict[str, Any]]]

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def test_outputs_are_complete(outputs: Outputs) -> None:
    assert outputs.tables.keys() == {table.name for table in (*schema.TABLES, schema.RELEASES)}
    # in the storage phase `cleanup`, with `feeds`, and with `notifications`
    opt_in = {"webhook_archive", "feed_stream", "feed_writer"}
    opt_in |= {"notification_router", "notification_sender", "notification_schedules"}
    assert outputs.functions.keys() == {file.stem for file in (ROOT / "functions").glob("*.py")} - opt_in
    for value in (outputs.webhook_url, outputs.api_url, outputs.github_api_url, outputs.endpoint_url):
        assert value.startswith("http://127.0.0.1:")
    assert all((outputs.admin_token, outputs.webhook_secret, outputs.event_bus, outputs.region))


@pytest.fixture(scope="module")
def tables(outputs: Outputs, dynamodb: "DynamoDBClient", sent: list[Step]) -> Tables:
    """Every item that stands alone under its key, by table and key."""
    assert sent
    found: Tables = {}
    for name, table in outputs.tables.items():
        pages = dynamodb.get_paginator("scan").paginate(TableName=table)
        items = [from_attributes(item) for page in pages for item in page["Items"] if item["SK"]["S"] == "v"]
        found[name] = {item["PK"]: item for item in items}
    return found


def test_the_demo_fills_the_ledger(sent: list[Step], tables: Tables) -> None:
    jobs = tables["workflow_jobs"].values()
    seen = Counter(job["status"] for job in jobs)
    assert sum(seen.values()) >= 40
    assert {"queued", "waiting", "in_progress", "completed"} <= seen.keys()
    assert {"success", "failure", "cancelled", "skipped"} <= {job.get("conclusion") for job in jobs}
    assert summary.run_keys(sent) <= tables["workflow_runs"].keys()


def test_a_runs_counters_are_exact(sent: list[Step], tables: Tables) -> None:
    ours = [tables["workflow_runs"][key] for key in summary.run_keys(sent)]
    (matrix,) = [run for run in ours if run["workflow_name"] == "Matrix"]
    assert (matrix["status"], matrix["conclusion"]) == ("completed", "failure")
    assert (matrix["total_jobs"], matrix["completed_jobs"], matrix["failed_jobs"]) == (len(MATRIX), len(MATRIX), 1)
    release = sorted((run for run in ours if run["workflow_name"] == "Release"), key=lambda run: run["run_attempt"])
    assert [(run["run_attempt"], run["total_jobs"], run["failed_jobs"]) for run in release] == [(1, 2, 1), (2, 2, 0)]


def test_deployments_have_the_status_of_their_reviews(sent: list[Step], tables: Tables) -> None:
    ours = [tables["deployments"][key] for key in summary.deployment_keys(sent)]
    found = sorted((each["repo_full_name"], each["environment"], each["status"]) for each in ours)
    assert found == [
        ("acme/payments", "production", "pending"),
        ("acme/storefront", "production", "approved"),
        ("acme/storefront", "production", "rejected"),
        ("globex/platform", "staging", "pending"),
    ]
    assert all(each["requires_approval"] for each in ours)
    decided = {each["status"]: each for each in ours}
    assert "approved_at" in decided["approved"]
    assert "rejected_at" in decided["rejected"]
    for each in ours:
        (job_id,) = each["job_ids"]
        assert tables["workflow_jobs"][f"{each['installation_id']}#{job_id}"]["deployment_id"] == each["deployment_id"]


def test_the_simulated_github_logs_every_delivery(outputs: Outputs, sent: list[Step]) -> None:
    logged = Counter((row["guid"], row["event"]) for row in Control(outputs.github_api_url).deliveries())
    assert Counter((each.delivery_id, each.event) for each in deliveries(sent) if not each.lost) <= logged


def test_runners_are_active_while_their_jobs_run_and_cleaned_when_they_are_gone(played: Played, tables: Tables) -> None:
    runners = {key: tables["runners"][key]["status"] for key in summary.runner_keys(played.steps)}
    machines = played.machines
    at_work = {machines.at_work, machines.warned, machines.by_hand, machines.busy}
    assert {key for key, status in runners.items() if status == "active"} == at_work
    assert set(runners.values()) == {"active", "cleaned"}


def test_what_a_launched_job_cost_is_known(sent: list[Step], tables: Tables) -> None:
    launched = [each for each in bus_events(sent) if each.detail_type == "runner_scheduled"]
    jobs = [tables["workflow_jobs"][each.subject.ledger_key] for each in launched]
    started = [job for job in jobs if job["status"] != "queued"]
    completed = [job for job in started if job["status"] == "completed"]
    assert len(started) == len(jobs) - 1  # the runner of one never started
    assert completed
    assert all(job["pool_name"] and job["price_per_hour"] for job in started)
    assert all(job["usage_in_dollars"] > 0 for job in completed)


def test_an_interrupted_job_is_re_run_by_one_call_and_then_succeeds(
    outputs: Outputs, dynamodb: "DynamoDBClient", sent: list[Step], tables: Tables, reruns_before: int
) -> None:
    (warned,) = {each.subject for each in bus_events(sent) if each.detail.get("stopCode") == "SpotInterruption"}
    job = tables["workflow_jobs"][warned.ledger_key]
    assert (job["was_interrupted"], job["conclusion"]) == (True, "failure")
    types = [line["event_type"] for line in history(dynamodb, outputs, warned.ledger_key)]
    assert {"runner_interrupted", "runner_terminated", "rerun_requested"} <= set(types)
    attempts = [run for run in tables["workflow_runs"].values() if run.get("run_id") == warned.run.id]
    found = sorted((run["run_attempt"], run["conclusion"]) for run in attempts)
    assert found == [(1, "failure"), (2, "success")]
    assert reruns(outputs) == reruns_before + 1


def test_a_warning_of_ec2_reaches_the_job_that_runs_there(sent: list[Step], tables: Tables) -> None:
    (warned,) = [each.subject for each in bus_events(sent) if "instance-action" in each.detail]
    job = tables["workflow_jobs"][warned.ledger_key]
    assert (job["status"], job["was_interrupted"]) == ("in_progress", True)


def test_a_stolen_runner_is_in_the_histories_of_both_jobs(
    outputs: Outputs, dynamodb: "DynamoDBClient", sent: list[Step], tables: Tables
) -> None:
    (again,) = [each for each in bus_events(sent) if each.detail_type == "runner_rescheduled"]
    stolen = again.detail["previous_runner_id"]
    (thief,) = {each.subject for each in bus_events(sent) if each.runner_id == stolen} - {again.subject}
    runner = tables["runners"][stolen]
    assert (runner["intended_job_id"], runner["job_id"]) == (again.subject.id, thief.id)
    assert tables["workflow_jobs"][thief.ledger_key]["instance_id"] == stolen
    assert tables["workflow_jobs"][again.subject.ledger_key]["instance_id"] == again.runner_id
    robbed = [line["event_type"] for line in history(dynamodb, outputs, again.subject.ledger_key)]
    assert {"runner_scheduled", "runner_taken", "runner_rescheduled"} <= set(robbed)
    gained = [line["event_type"] for line in history(dynamodb, outputs, thief.ledger_key)]
    assert {"runner_attached", "runner_terminated"} <= set(gained)
    assert "runner_scheduled" not in gained


def test_an_instance_without_launcher_events_is_looked_up_on_ec2(sent: list[Step], tables: Tables) -> None:
    launched = {each.runner_id for each in bus_events(sent)}
    awaited = {(each.subject, each.value) for each in sent if isinstance(each, Awaited) and each.table != "runners"}
    ((job, instance_id),) = [(job, value) for job, value in awaited if value != "requested" and value not in launched]
    found = tables["workflow_jobs"][job.ledger_key]
    assert found["instance_id"] == instance_id
    learnt = (found["instance_type"], found["pool_name"], found["instance_lifecycle"])
    assert learnt == (BY_HAND_TYPE, BY_HAND_POOL, "on-demand")
