"""What a person wants to know after the demo, asked of the deployment: tables by key, and the deployed function."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Any

import boto3

from local.emulator import CREDENTIALS
from local.processes import LocalError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_lambda import LambdaClient

    from local.outputs import Outputs
    from local.payloads.subjects import Delivery

STATUSES = ("queued", "waiting", "scheduled", "in_progress", "completed")
APPROVALS = ("pending", "approved", "rejected")
_MOST_IN_A_BATCH = 100


def lines(outputs: Outputs, sent: Iterable[Delivery], now: datetime) -> Iterator[str]:
    """Of all jobs, and of the runs and deployments that were sent."""
    sent = list(sent)
    with closing(_client(outputs, "dynamodb")) as dynamodb:
        jobs = _count_by_status(dynamodb, outputs, {each.installation_id for each in sent})
        runs = _statuses(dynamodb, outputs.tables["workflow_runs"], run_keys(sent))
        approvals = _statuses(dynamodb, outputs.tables["deployments"], deployment_keys(sent))
    yield "jobs        " + ", ".join(f"{jobs[status]} {status}" for status in STATUSES)
    yield f"runs        {runs['completed']} of {runs.total()} finished"
    yield "approvals   " + ", ".join(f"{approvals[status]} {status}" for status in APPROVALS)
    for each in forgotten_approvals(outputs):
        days = (now - datetime.fromisoformat(each["waiting_since"])).days
        yield f"forgotten   {each['repo_full_name']} waits for approval of {each['environment']}: {days} days"


def run_keys(sent: Iterable[Delivery]) -> set[str]:
    runs = [(each.installation_id, each.payload["workflow_run"]) for each in sent if each.event == "workflow_run"]
    return {f"{installation_id}#{run['id']}#{run['run_attempt']}" for installation_id, run in runs}


def deployment_keys(sent: Iterable[Delivery]) -> set[str]:
    return {f"{each.installation_id}#{each.payload['deployment']['id']}" for each in sent if each.event == "deployment"}


def forgotten_approvals(outputs: Outputs) -> list[dict[str, Any]]:
    with closing(_client(outputs, "lambda")) as functions:
        client: LambdaClient = functions
        answer = client.invoke(FunctionName=outputs.functions["forgotten_approvals"], Payload=b"{}")
        said = answer["Payload"].read().decode()
    if "FunctionError" in answer:
        raise LocalError(f"forgotten_approvals failed: {said}")
    found: list[dict[str, Any]] = json.loads(said)["forgotten"]
    return found


def _client(outputs: Outputs, service: Any) -> Any:
    return boto3.client(
        service,
        endpoint_url=outputs.endpoint_url,
        region_name=outputs.region,
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    )


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


def _statuses(client: DynamoDBClient, table: str, keys: set[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    wanted: list[Any] = [{"PK": {"S": key}, "SK": {"S": "v"}} for key in sorted(keys)]
    while wanted:
        answer = client.batch_get_item(RequestItems={table: {"Keys": wanted[:_MOST_IN_A_BATCH]}})
        counts.update(item["status"]["S"] for item in answer["Responses"][table])
        left = answer["UnprocessedKeys"].get(table, {"Keys": []})["Keys"]
        wanted = [*left, *wanted[_MOST_IN_A_BATCH:]]
    return counts
