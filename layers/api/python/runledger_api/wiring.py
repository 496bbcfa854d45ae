"""Wires the API: tables, the GitHub requests function, and authentication."""

import json
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from runledger.model import times
from runledger.platform.clients import client, patient_client, rarely
from runledger.queries.caches import DeploymentCache, RunCache
from runledger.queries.dead_letters import DeadLetterQueues
from runledger.queries.known_installations import KnownInstallations
from runledger.queries.pass_requests import Orders
from runledger.tables.event_pages import EventPages
from runledger.tables.job_pages import JobPages
from runledger.tables.run_attempts import RunAttempts
from runledger.tables.runners import RunnersTable
from runledger.tables.runs import RunsTable
from runledger.wiring.passes import passes, patience
from runledger.wiring.recording import deployments, jobs, setting
from runledger.wiring.recording import installations as registry

from runledger_api.authentication import Authenticator, Tokens, Verifier
from runledger_api.cursors import Cursors
from runledger_api.github import GitHub
from runledger_api.jwts import Jwts
from runledger_api.read_units import ReadUnitMeter

__all__ = ["deployments", "jobs", "passes", "patience", "registry"]


@cache
def meter() -> ReadUnitMeter:
    return ReadUnitMeter(client("dynamodb"))


@cache
def tokens() -> Tokens:
    return Tokens(client("secretsmanager"), setting("API_TOKENS"), clock=time.monotonic)


@cache
def authenticator() -> Authenticator:
    verifiers: list[Verifier] = [tokens()]
    if issuer := setting("JWT_ISSUER", default=""):
        verifiers.append(Jwts(issuer=issuer, audience=setting("JWT_AUDIENCE")))
    return Authenticator(verifiers=tuple(verifiers))


@cache
def cursors() -> Cursors:
    return Cursors(lambda: tokens().cursor_key())


@cache
def installations() -> KnownInstallations:
    return KnownInstallations(registry())


@cache
def job_pages() -> JobPages:
    return JobPages(client("dynamodb"), setting("JOBS_TABLE"))


@cache
def event_pages() -> EventPages:
    return EventPages(client("dynamodb"), setting("JOB_EVENTS_TABLE"))


@cache
def run_attempts() -> RunAttempts:
    return RunAttempts(client("dynamodb"), setting("RUNS_TABLE"))


@cache
def github_requests_client() -> Any:
    return patient_client("lambda", read_seconds=float(setting("GITHUB_REQUESTS_SECONDS")))


@cache
def github() -> GitHub:
    return GitHub(github_requests_client, setting("GITHUB_REQUESTS_FUNCTION"), clock=time.monotonic)


@cache
def run_cache() -> RunCache:
    runs = RunsTable(client("dynamodb"), setting("RUNS_TABLE"), retention_days=int(setting("RUNS_RETENTION_DAYS")))
    return RunCache(runs=runs, refresh=github().refresh_run)


@cache
def deployment_cache() -> DeploymentCache:
    return DeploymentCache(deployments=deployments(), refresh=github().refresh_deployment)


@cache
def runners() -> RunnersTable:
    days = int(setting("RUNNERS_RETENTION_DAYS"))
    return RunnersTable(client("dynamodb"), setting("RUNNERS_TABLE"), retention_days=days)


@cache
def orders() -> Orders:
    return Orders(lambdas=rarely("lambda"), function=setting("RECONCILER_FUNCTION"), passes=passes())


@cache
def dead_letters() -> DeadLetterQueues:
    addresses: Mapping[str, str] = json.loads(setting("DEAD_LETTER_QUEUES"))
    return DeadLetterQueues(rarely("sqs"), addresses)


def orphan_grace_seconds() -> int:
    return int(setting("ORPHAN_GRACE_MINUTES")) * times.SECONDS_PER_MINUTE


def approval_patience_seconds() -> int:
    return int(setting("FORGOTTEN_APPROVAL_HOURS")) * times.SECONDS_PER_HOUR
