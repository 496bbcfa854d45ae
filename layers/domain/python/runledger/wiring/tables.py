"""Tables that several functions use. Loads neither the ledger nor intake, so that the API stays small."""

from functools import cache

from runledger.platform.clients import client
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.jobs import JobsTable
from runledger.tables.runs import RunsTable
from runledger.wiring.settings import TableSettings


@cache
def jobs() -> JobsTable:
    settings = TableSettings.of("JOBS")
    return JobsTable(client("dynamodb"), settings.table, retention_days=settings.retention_days)


@cache
def installations() -> InstallationsRegistry:
    return InstallationsRegistry(client("dynamodb"), TableSettings.of("JOBS").table)


@cache
def runs() -> RunsTable:
    settings = TableSettings.of("RUNS")
    return RunsTable(client("dynamodb"), settings.table, retention_days=settings.retention_days)


@cache
def deployments() -> DeploymentsTable:
    settings = TableSettings.of("DEPLOYMENTS")
    return DeploymentsTable(client("dynamodb"), settings.table, retention_days=settings.retention_days)
