"""Many jobs at once, put into the deployed table as the ledger itself would have written them."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

from runledger.model import times
from runledger.model.inputs import Status
from runledger.model.job import Job
from runledger.tables.attributes import to_attributes
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.jobs import JobsTable

from local.aws import clients as aws
from local.aws.outputs import Outputs

MOST_IN_A_BATCH = 25


def fill(outputs: Outputs, installation_id: int, number: int) -> None:
    """Completed jobs of one repository, a minute apart."""
    now = datetime.now(UTC)
    jobs = [_job(installation_id, 10_000 + each, now - timedelta(minutes=each)) for each in range(number)]
    with closing(aws.client(outputs, "dynamodb")) as client:
        name = outputs.tables["workflow_jobs"]
        table = JobsTable(client, name, retention_days=90)
        registry = InstallationsRegistry(client, name)
        registry.register(
            installation_id=installation_id,
            org_name="many",
            repo_full_name="many/jobs",
            first_seen_at=jobs[-1].created_at,
        )
        for start in range(0, len(jobs), MOST_IN_A_BATCH):
            batch: list[Any] = [
                {"PutRequest": {"Item": to_attributes(table._item(job))}}
                for job in jobs[start : start + MOST_IN_A_BATCH]
            ]
            client.batch_write_item(RequestItems={name: batch})


def _job(installation_id: int, job_id: int, created: datetime) -> Job:
    at = [times.from_epoch_ms(round((created + timedelta(seconds=each)).timestamp() * 1000)) for each in (0, 1, 30, 90)]
    return Job(
        installation_id=installation_id,
        job_id=job_id,
        run_id=job_id,
        run_attempt=1,
        status=Status.COMPLETED,
        conclusion="success",
        repo_full_name="many/jobs",
        workflow_name="CI",
        job_name="unit tests",
        head_branch="main",
        created_at=at[0],
        received_at=at[1],
        started_at=at[2],
        completed_at=at[3],
        last_updated_at=at[3],
        version=1,
    )
