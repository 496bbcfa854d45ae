"""The ledger over a client of the test's choice."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runledger.model.inputs import Receipt
from runledger.model.job import Job
from runledger.model.reports import RunReport
from runledger.recording.decision import decide
from runledger.recording.ledger import Ledger
from runledger.tables import schema
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.events import EventsTable
from runledger.tables.gates import Gates
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.jobs import JobsTable
from runledger.tables.runs import RunsTable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

JOBS, EVENTS = schema.WORKFLOW_JOBS.name, schema.WORKFLOW_JOB_EVENTS.name
RUNS, DEPLOYMENTS, RUNNERS = schema.WORKFLOW_RUNS.name, schema.DEPLOYMENTS.name, schema.RUNNERS.name


@dataclass
class RememberedFollowUps:
    """Replaces the queues of follow-up work: remembers what would be sent."""

    lookups: list[Job] = field(default_factory=list)
    reruns: list[Job | RunReport] = field(default_factory=list)

    def look_up_runner(self, job: Job) -> None:
        self.lookups.append(job)

    def consider_rerun(self, run: Job | RunReport) -> None:
        self.reruns.append(run)


def ledger_on(client: "DynamoDBClient", **options: Any) -> Ledger:
    options = {"follow_ups": RememberedFollowUps()} | options
    return Ledger(
        jobs=JobsTable(client, JOBS, retention_days=90),
        events=EventsTable(client, EVENTS, retention_days=14),
        installations=InstallationsRegistry(client, JOBS),
        runs=RunsTable(client, RUNS, retention_days=90),
        deployments=DeploymentsTable(client, DEPLOYMENTS, retention_days=90),
        gates=Gates(client, DEPLOYMENTS, retention_days=90),
        **options,
    )


def decided(inputs: Iterable[Receipt]) -> Job:
    """The job after these inputs, without a table."""
    job: Job | None = None
    for each in inputs:
        job = decide(job, each).job
    assert job is not None
    return job
