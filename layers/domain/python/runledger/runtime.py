"""The only place where things are wired together, from the environment that the stacks set."""

import json
import os
import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from runledger.caches import DeploymentCache
from runledger.intake import Intake
from runledger.ledger import Ledger
from runledger.model import Job
from runledger.reports import Approval
from runledger.retries import RetryQueue
from runledger.signatures import WebhookSecrets
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.events import EventsTable
from runledger.tables.gates import Gates
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.jobs import JobsTable
from runledger.tables.runs import RunsTable

if TYPE_CHECKING:
    from runledger_github.truth import Truth

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
    )


@cache
def intake() -> Intake:
    return Intake(
        secrets=WebhookSecrets(client("secretsmanager"), setting("WEBHOOK_SECRETS"), clock=time.monotonic),
        ledger=ledger(),
        retries=RetryQueue(client("sqs"), setting("WEBHOOK_RETRIES_QUEUE")),
    )


@cache
def truth() -> "Truth | None":
    """None until somebody has put a GitHub App into its secret: then we know what webhooks tell, and no more."""
    from runledger_github.app import GitHubApp  # noqa: PLC0415 - heavy, and only some functions have its layer
    from runledger_github.truth import Truth  # noqa: PLC0415

    secret = client("secretsmanager").get_secret_value(SecretId=setting("GITHUB_APP"))["SecretString"]
    if not json.loads(secret):
        return None
    return Truth(app=GitHubApp.from_secret(secret, api_url=setting("GITHUB_API_URL")))


@cache
def is_pending() -> Callable[[Job], bool]:
    """Whether a waiting job still waits for an approval: GitHub's word where we can ask, else the table's."""
    known = truth()
    cache = DeploymentCache(deployments=deployments(), ask=known.deployment) if known else None

    def pending(job: Job) -> bool:
        if job.deployment_id is None or job.repo_full_name is None:
            return True
        if cache:
            found = cache.get(job.installation_id, job.repo_full_name, job.deployment_id)
        else:
            found = deployments().get(job.installation_id, job.deployment_id)
        return found is None or found.get("status") == Approval.PENDING

    return pending
