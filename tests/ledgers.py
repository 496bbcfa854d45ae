"""The ledger over a client of the test's choice."""

from typing import TYPE_CHECKING, Any

from runledger.ledger import Ledger
from runledger.tables import schema
from runledger.tables.events import EventsTable
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.jobs import JobsTable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

JOBS, EVENTS = schema.WORKFLOW_JOBS.name, schema.WORKFLOW_JOB_EVENTS.name


def ledger_on(client: "DynamoDBClient", **options: Any) -> Ledger:
    return Ledger(
        jobs=JobsTable(client, JOBS, retention_days=90),
        events=EventsTable(client, EVENTS, retention_days=14),
        installations=InstallationsRegistry(client, JOBS),
        **options,
    )
