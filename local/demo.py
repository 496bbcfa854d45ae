"""Plays the demo workload against a local deployment, as GitHub would."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING

import boto3

from local import github_hook
from local.emulator import CREDENTIALS
from local.lives import lives
from local.processes import LocalError

if TYPE_CHECKING:
    from datetime import datetime

    from mypy_boto3_dynamodb import DynamoDBClient

    from local.outputs import Outputs
    from local.payloads import Delivery

STATUSES = ("queued", "waiting", "scheduled", "in_progress", "completed")
_AT_ONCE = 4


def send(outputs: Outputs, *, now: datetime, seed: int = 1) -> None:
    """Deliver everything, each job's deliveries in their order, and show what the ledger made of it."""
    deliveries = lives(now, seed)
    by_job: dict[int, list[Delivery]] = defaultdict(list)
    for each in deliveries:
        by_job[each.job_id].append(each)
    print(f"Playing the lives of {len(by_job)} jobs: {len(deliveries)} deliveries")
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        lives_sent = [threads.submit(_send_life, outputs, life) for life in by_job.values()]
        for number, sent in enumerate(as_completed(lives_sent), start=1):
            sent.result()
            if number % 10 == 0:
                print(f"  {number} of {len(by_job)} jobs")
    installations = {each.installation_id for each in deliveries}
    counts = count_by_status(outputs, installations)
    print("The ledger now holds: " + ", ".join(f"{count} {status}" for status, count in counts.items()))


def count_by_status(outputs: Outputs, installations: set[int]) -> dict[str, int]:
    client: DynamoDBClient = boto3.client(
        "dynamodb",
        endpoint_url=outputs.endpoint_url,
        region_name=outputs.region,
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    )
    return {
        status: sum(_count(client, outputs.tables["workflow_jobs"], f"{each}#{status}") for each in installations)
        for status in STATUSES
    }


def _count(client: DynamoDBClient, table: str, partition: str) -> int:
    pages = client.get_paginator("query").paginate(
        TableName=table,
        IndexName="by_status",
        Select="COUNT",
        KeyConditionExpression="by_status = :partition",
        ExpressionAttributeValues={":partition": {"S": partition}},
    )
    return sum(page["Count"] for page in pages)


def _send_life(outputs: Outputs, life: list[Delivery]) -> None:
    for each in life:
        answer = github_hook.deliver(
            outputs.webhook_url,
            outputs.webhook_secret,
            "workflow_job",
            each.body,
            delivery_id=each.delivery_id,
            installation_id=each.installation_id,
        )
        if answer.status != 202:
            said = answer.body.decode(errors="replace")
            raise LocalError(f"delivery {each.delivery_id} was answered with {answer.status}: {said}")
