"""Signed webhooks over HTTP to the deployed app at increasing concurrency, compared with an empty function.

The emulated API Gateway is slow, so only the ratio to the empty function is meaningful.
"""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from bench import empty_function
from bench.lives import Life, without_launcher
from bench.report import Figure
from local.aws import clients as aws
from local.github import webhooks as github_webhooks

if TYPE_CHECKING:
    from local.aws.outputs import Outputs

CONCURRENCY = (1, 2, 4, 8)
JOBS = 16
MS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    seconds: float
    waits: list[float]
    accepted: int

    @property
    def per_second(self) -> float:
        return len(self.waits) / self.seconds

    def percentile(self, part: float) -> float:
        return sorted(self.waits)[min(len(self.waits) - 1, int(part * len(self.waits)))]


def measure(outputs: Outputs) -> list[Figure]:
    empty_url = empty_function.deploy(outputs)
    entries: list[Figure] = []
    sent: list[Life] = []
    for concurrency in CONCURRENCY:
        warming, jobs = _some(2 * concurrency), _some(JOBS)
        for url in (empty_url, outputs.webhook_url):
            _send(url, outputs.webhook_secret, warming, concurrency)
        empty = _send(empty_url, outputs.webhook_secret, jobs, concurrency)
        ours = _send(outputs.webhook_url, outputs.webhook_secret, jobs, concurrency)
        sent += warming + jobs
        entries += _entries(concurrency, ours, empty)
    return [*entries, *_check_tables(outputs, sent)]


def _some(jobs: int) -> list[Life]:
    return [Life() for _ in range(jobs)]


def _send(url: str, secret: str, jobs: list[Life], concurrency: int) -> Batch:
    """All webhooks of all jobs in random order."""
    webhooks = [event for job in jobs for _, event in without_launcher(job)]
    random.Random(concurrency).shuffle(webhooks)  # noqa: S311
    started = time.perf_counter()
    with ThreadPoolExecutor(max_workers=concurrency) as pool:
        responses = list(pool.map(partial(_post, url, secret), webhooks))
    return Batch(
        seconds=time.perf_counter() - started,
        waits=[seconds for seconds, _ in responses],
        accepted=sum(status == 202 for _, status in responses),  # noqa: PLR2004
    )


def _post(url: str, secret: str, event: dict[str, Any]) -> tuple[float, int]:
    body, guid = event["body"].encode(), event["headers"]["x-github-delivery"]
    headers = github_webhooks.headers("workflow_job", body, secret, delivery_id=guid)
    started = time.perf_counter()
    status = github_webhooks.post(url, body, headers).status
    return time.perf_counter() - started, status


def _entries(concurrency: int, ours: Batch, empty: Batch) -> list[Figure]:
    key = f"load.{concurrency}"
    how = f"{3 * JOBS} signed webhooks, {concurrency} at a time, into the deployed app; baseline: an empty function"
    figures = {
        "per_second": (ours.per_second, empty.per_second, "webhooks/s"),
        "p50_ms": (ours.percentile(0.5) * MS, empty.percentile(0.5) * MS, "ms"),
        "p99_ms": (ours.percentile(0.99) * MS, empty.percentile(0.99) * MS, "ms"),
    }
    timed = [
        Figure(key=f"{key}.{name}", value=value, baseline=baseline, unit=unit, how=how, kind="time")
        for name, (value, baseline, unit) in figures.items()
    ]
    return [*timed, Figure(key=f"{key}.errors", value=len(ours.waits) - ours.accepted, unit="webhooks", how=how)]


def _check_tables(outputs: Outputs, jobs: list[Life]) -> list[Figure]:
    """Checks that every delivery is in the history and every job is completed."""
    dynamodb = aws.client(outputs, "dynamodb")
    lines, done = set(), 0
    for job in jobs:
        key = f"{job.installation_id}#{job.job_id}"
        history = dynamodb.query(
            TableName=outputs.tables["workflow_job_events"],
            KeyConditionExpression="PK = :key",
            ExpressionAttributeValues={":key": {"S": key}},
        )
        lines |= {line["delivery_id"]["S"] for line in history["Items"]}
        item = dynamodb.get_item(
            TableName=outputs.tables["workflow_jobs"], Key={"PK": {"S": key}, "SK": {"S": "v"}}
        ).get("Item", {})
        done += item.get("status") == {"S": "completed"}
    sent = {event["headers"]["x-github-delivery"] for job in jobs for _, event in without_launcher(job)}
    dynamodb.close()
    return [
        Figure(
            key="load.deliveries_in_history",
            value=len(lines & sent),
            baseline=len(sent),
            unit="deliveries",
            how="found in the deployed tables after the load; baseline: sent",
        ),
        Figure(
            key="load.jobs_completed",
            value=done,
            baseline=len(jobs),
            unit="jobs",
            how="completed in the table after the load; baseline: sent",
        ),
    ]
