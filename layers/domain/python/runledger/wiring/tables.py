"""Tables that several functions use. Loads neither the ledger nor intake, so that the API stays small."""

from functools import cache

from runledger.platform.clients import client
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.jobs import JobsTable
from runledger.tables.runs import RunsTable
from runledger.wiring.settings import TableSettings, open_table


@cache
def jobs() -> JobsTable:
    return open_table(JobsTable, "JOBS")


@cache
def installations() -> InstallationsRegistry:
    return InstallationsRegistry(client("dynamodb"), TableSettings.of("JOBS").table)


@cache
def runs() -> RunsTable:
    return open_table(RunsTable, "RUNS")


@cache
def deployments() -> DeploymentsTable:
    return open_table(DeploymentsTable, "DEPLOYMENTS")
