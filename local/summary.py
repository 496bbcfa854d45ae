"""What a person wants to know after the demo, asked of the deployment: tables by key, and the deployed function."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Any

from boto3.dynamodb.types import TypeDeserializer

from local import aws
from local.payloads.subjects import Job, Run
from local.processes import LocalError
from local.steps import Awaited, bus_events, deliveries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_lambda import LambdaClient

    from local.outputs import Outputs
    from local.steps import Step

STATUSES = ("queued", "waiting", "scheduled", "in_progress", "completed")
RUNNERS = ("active", "cleaned")
APPROVALS = ("pending", "approved", "rejected")
_MOST_IN_A_BATCH = 100


def lines(outputs: Outputs, sent: Iterable[Step], now: datetime) -> Iterator[str]:
    """Of all jobs by status, and of everything else that was sent, by its key."""
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
    yield "approvals   " + ", ".join(f"{approvals[status]} {status}" for status in APPROVALS)
    for each in forgotten_approvals(outputs):
        days = (now - datetime.fromisoformat(each["waiting_since"])).days
        yield f"forgotten   {each['repo_full_name']} waits for approval of {each['environment']}: {days} days"
    yield "runners     " + ", ".join(f"{runners[status]} {status}" for status in RUNNERS)
    yield f"interrupted {interrupted} jobs, {rerun} run again"
    yield f"spend       ${dollars:.2f}"


def job_keys(sent: Iterable[Step]) -> set[str]:
    return {each.subject.ledger_key for each in sent if isinstance(each.subject, Job)}


def run_keys(sent: Iterable[Step]) -> set[str]:
    return {each.subject.ledger_key for each in sent if isinstance(each.subject, Run)}


def deployment_keys(sent: Iterable[Step]) -> set[str]:
    told = [each for each in deliveries(sent) if each.event == "deployment"]
    return {f"{each.installation_id}#{each.payload['deployment']['id']}" for each in told}


def runner_keys(sent: Iterable[Step]) -> set[str]:
    """Those that were published, and the one that the story waits to see learnt."""
    learnt = {each.value for each in sent if isinstance(each, Awaited) and each.attribute == "instance_id"}
    return {each.runner_id for each in bus_events(sent)} | learnt


def forgotten_approvals(outputs: Outputs) -> list[dict[str, Any]]:
    with closing(aws.client(outputs, "lambda")) as functions:
        client: LambdaClient = functions
        answer = client.invoke(FunctionName=outputs.functions["forgotten_approvals"], Payload=b"{}")
        said = answer["Payload"].read().decode()
    if "FunctionError" in answer:
        raise LocalError(f"forgotten_approvals failed: {said}")
    found: list[dict[str, Any]] = json.loads(said)["forgotten"]
    return found


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
        answer = client.batch_get_item(RequestItems={table: {"Keys": wanted[:_MOST_IN_A_BATCH]}})
        items += [_plain(item) for item in answer["Responses"][table]]
        left = answer["UnprocessedKeys"].get(table, {"Keys": []})["Keys"]
        wanted = [*left, *wanted[_MOST_IN_A_BATCH:]]
    return items


def _plain(item: Mapping[str, Any]) -> dict[str, Any]:
    read = TypeDeserializer()
    return {name: read.deserialize(value) for name, value in item.items()}


def _statuses(items: Iterable[Mapping[str, Any]]) -> Counter[str]:
    return Counter(item["status"] for item in items)
