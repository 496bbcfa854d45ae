"""Things are wired together here, from the environment that the stacks set.

What only some functions need is wired in `runner_runtime` and `github_runtime`, so that intake does not load it.
"""

import os
import time
from dataclasses import replace
from functools import cache

from runledger.model.job import Receipt
from runledger.model.runner_names import TASK_ID
from runledger.platform import logs
from runledger.platform.clients import client, rarely
from runledger.recording import telemetry
from runledger.recording.decision import Decision
from runledger.recording.follow_up import Errands
from runledger.recording.ledger import Ledger
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.events import EventsTable
from runledger.tables.gates import Gates
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.jobs import JobsTable
from runledger.tables.runs import RunsTable
from runledger.webhooks.intake import Intake
from runledger.webhooks.retry_queue import RetryQueue
from runledger.webhooks.signatures import WebhookSecrets


def setting(name: str, default: str | None = None) -> str:
    value = os.environ.get(name) or default
    if value is None:
        raise LookupError(f"the environment variable {name} is not set; the stacks set it for each function")
    return value


@cache
def jobs() -> JobsTable:
    return JobsTable(client("dynamodb"), setting("JOBS_TABLE"), retention_days=int(setting("JOBS_RETENTION_DAYS")))


@cache
def installations() -> InstallationsRegistry:
    return InstallationsRegistry(client("dynamodb"), setting("JOBS_TABLE"))


@cache
def deployments() -> DeploymentsTable:
    return DeploymentsTable(
        client("dynamodb"), setting("DEPLOYMENTS_TABLE"), retention_days=int(setting("DEPLOYMENTS_RETENTION_DAYS"))
    )


@cache
def ledger() -> Ledger:
    dynamodb = client("dynamodb")
    return Ledger(
        jobs=jobs(),
        events=EventsTable(
            dynamodb, setting("JOB_EVENTS_TABLE"), retention_days=int(setting("JOB_EVENTS_RETENTION_DAYS"))
        ),
        installations=installations(),
        runs=RunsTable(dynamodb, setting("RUNS_TABLE"), retention_days=int(setting("RUNS_RETENTION_DAYS"))),
        deployments=deployments(),
        gates=Gates(dynamodb, setting("DEPLOYMENTS_TABLE"), retention_days=int(setting("DEPLOYMENTS_RETENTION_DAYS"))),
        errands=Errands(
            rarely("sqs"),
            lookups_url=setting("RUNNER_LOOKUPS_QUEUE"),
            reruns_url=setting("RERUN_CHECKS_QUEUE"),
            instance_pattern=setting("INSTANCE_ID_PATTERN"),
            task_pattern=TASK_ID,
        ),
        recorded=telemetry.recorded,
    )


def record(receipt: Receipt) -> Decision:
    return ledger().record(receipt)


@cache
def intake() -> Intake:
    retries = RetryQueue(rarely("sqs"), setting("WEBHOOK_RETRIES_QUEUE"))
    return Intake(
        secrets=WebhookSecrets(
            client("secretsmanager"),
            setting("WEBHOOK_SECRETS"),
            clock=time.monotonic,
            ignored=logs.secret_ignored,
        ),
        ledger=replace(ledger(), defer=retries.put),
        retries=retries,
    )
