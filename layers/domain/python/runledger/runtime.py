"""The only place where things are wired together, from the environment that the stacks set."""

import os
import time
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from runledger.intake import Intake
from runledger.ledger import Ledger
from runledger.retries import RetryQueue
from runledger.signatures import WebhookSecrets
from runledger.tables.events import EventsTable
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.jobs import JobsTable

# GitHub hangs up after 10 seconds: a call that hangs must fail early enough to put the delivery on the retry queue.
AWS_PATIENCE = Config(connect_timeout=1, read_timeout=2, retries={"mode": "standard", "total_max_attempts": 2})


def setting(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise LookupError(f"the environment variable {name} is not set; the stacks set it for each function")
    return value


@cache
def client(service: Any) -> Any:
    return boto3.client(service, config=AWS_PATIENCE)


@cache
def ledger() -> Ledger:
    dynamodb, jobs = client("dynamodb"), setting("JOBS_TABLE")
    return Ledger(
        jobs=JobsTable(dynamodb, jobs, retention_days=int(setting("JOBS_RETENTION_DAYS"))),
        events=EventsTable(
            dynamodb, setting("JOB_EVENTS_TABLE"), retention_days=int(setting("JOB_EVENTS_RETENTION_DAYS"))
        ),
        installations=InstallationsRegistry(dynamodb, jobs),
    )


@cache
def intake() -> Intake:
    return Intake(
        secrets=WebhookSecrets(client("secretsmanager"), setting("WEBHOOK_SECRETS"), clock=time.monotonic),
        ledger=ledger(),
        retries=RetryQueue(client("sqs"), setting("WEBHOOK_RETRIES_QUEUE")),
    )
