"""Things are wired together here, from the environment that the stacks set.

What only some functions need is wired in `runner_runtime` and `github_runtime`, so that intake does not load it.
"""

import os
import time
from dataclasses import replace
from functools import cache

from runledger import telemetry
from runledger.aws import client, rarely
from runledger.decision import Decision
from runledger.errands import Errands
from runledger.intake import Intake
from runledger.ledger import Ledger
from runledger.model import Receipt
from runledger.retries import RetryQueue
from runledger.runner_names import TASK_ID
from runledger.signatures import WebhookSecrets
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.events import EventsTable
from runledger.tables.gates import Gates
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.jobs import JobsTable
from runledger.tables.runs import RunsTable


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
    )


def record(receipt: Receipt) -> Decision:
    """For those who record more than one thing for an input: each is logged and counted."""
    decision = ledger().record(receipt)
    telemetry.taken(receipt, decision)
    return decision


@cache
def intake() -> Intake:
    retries = RetryQueue(rarely("sqs"), setting("WEBHOOK_RETRIES_QUEUE"))
    return Intake(
        secrets=WebhookSecrets(
            client("secretsmanager"),
            setting("WEBHOOK_SECRETS"),
            clock=time.monotonic,
            ignored=telemetry.secret_ignored,
        ),
        ledger=replace(ledger(), defer=retries.put),
        retries=retries,
    )
