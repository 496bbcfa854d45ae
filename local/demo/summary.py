"""The summary after the demo, read from the deployed tables and the passes of the reconciler."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

from boto3.dynamodb.types import TypeDeserializer

from local.aws import clients as aws
from local.demo.payloads.entities import Job, Run
from local.demo.steps import Awaited, bus_events, deliveries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mypy_boto3_dynamodb import DynamoDBClient

    from local.aws.outputs import Outputs
    from local.demo.passes import Pass
    from local.demo.steps import Step

STATUSES = ("queued", "waiting", "scheduled", "in_progress", "completed")
RUNNERS = ("active", "cleaned")
APPROVALS = ("pending", "approved", "rejected")
REPAIRS = (
    ("jobs_healed", "jobs corrected"),
    ("runners_requested", "runners requested"),
    ("webhooks_redelivered", "webhooks redelivered"),
    ("orphans_detected", "orphans suspected"),
    ("orphans_cleaned", "orphans cleaned up"),
)
_MAX_BATCH = 100


def lines(outputs: Outputs, sent: Iterable[Step], passes: Sequence[Pass]) -> Iterator[str]:
    """One line each for jobs, runs, approvals, runners, interruptions, reconciliation and spend."""
    sent = list(sent)
    with closing(aws.client(outputs, "dynamodb")) as dynamodb:
        by_status = _count_by_status(dynamodb, outputs, {each.installation_id for each in deliveries(sent)})
        jobs = _items(dynamodb, outputs.tables["workflow_jobs"], job_keys(sent))
        runs = _items(dynamodb, outputs.tables["workflow_runs"], run_keys(sent))
        approvals = _statuses(_items(dynamodb, outputs.tables["deployments"], deployment_keys(sent)))
        runners = _statuses(_items(dynamodb, outputs.tables["runners"], runner_keys(sent)))
    interrupted = sum(job.get("was_interrupted", False) for job in jobs)
    rerun = sum(run.get("rerun_result") == "requested" for run in runs)
    dollars = sum(job.get("usage_in_dollars", 0) for job in jobs)
    yield "jobs        " + ", ".join(f"{by_status[status]} {status}" for status in STATUSES)
    yield f"runs        {_statuses(runs)['completed']} of {len(runs)} finished"
    decided = ", ".join(f"{approvals[status]} {status}" for status in APPROVALS)
    yield f"approvals   {decided}; {passes[-1].summary['forgotten_approvals']} forgotten"
    yield "runners     " + ", ".join(f"{runners[status]} {status}" for status in RUNNERS)
    yield f"interrupted {interrupted} jobs, {rerun} re-run"
    yield "reconciled  " + ", ".join(
        f"{label} {sum(each.summary[count] for each in passes)}" for count, label in REPAIRS
    )
    yield f"spend       ${dollars:.2f}"


def job_keys(sent: Iterable[Step]) -> set[str]:
    return {each.subject.ledger_key for each in sent if isinstance(each.subject, Job)}


def run_keys(sent: Iterable[Step]) -> set[str]:
    return {each.subject.ledger_key for each in sent if isinstance(each.subject, Run)}


def deployment_keys(sent: Iterable[Step]) -> set[str]:
    created = [each for each in deliveries(sent) if each.event == "deployment"]
    return {f"{each.installation_id}#{each.payload['deployment']['id']}" for each in created}


def runner_keys(sent: Iterable[Step]) -> set[str]:
    """Runners with events, and the one that the ledger finds by its name."""
    discovered = {each.value for each in sent if isinstance(each, Awaited) and each.attribute == "instance_id"}
    return {each.runner_id for each in bus_events(sent)} | discovered


def _count_by_status(client: DynamoDBClient, outputs: Outputs, installations: set[int]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for status in STATUSES:
        for each in installations:
            pages = client.get_paginator("query").paginate(
                TableName=outputs.tables["workflow_jobs"],
                IndexName="by_status",
                Select="COUNT",
                KeyConditionExpression="by_status = :partition",
                ExpressionAttributeValues={":partition": {"S": f"{each}#{status}"}},
            )
            counts[status] += sum(page["Count"] for page in pages)
    return counts


def _items(client: DynamoDBClient, table: str, keys: set[str]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    wanted: list[Any] = [{"PK": {"S": key}, "SK": {"S": "v"}} for key in sorted(keys)]
    while wanted:
        response = client.batch_get_item(RequestItems={table: {"Keys": wanted[:_MAX_BATCH]}})
        items += [_plain(item) for item in response["Responses"][table]]
        left = response["UnprocessedKeys"].get(table, {"Keys": []})["Keys"]
        wanted = [*left, *wanted[_MAX_BATCH:]]
    return items


def _plain(item: Mapping[str, Any]) -> dict[str, Any]:
    read = TypeDeserializer()
    return {name: read.deserialize(value) for name, value in item.items()}


def _statuses(items: Iterable[Mapping[str, Any]]) -> Counter[str]:
    return Counter(item["status"] for item in items)
