"""An orphan: its machine lives, its job is long completed, and an earlier pass has suspected it."""

from typing import TYPE_CHECKING, Any

from runledger.model.inputs import EventType
from runledger.model.suspicion import Reason

from local.github import SimulatedGitHub
from tests.reconciler.wiring import runners_on
from tests.support import runner_events
from tests.support.ledgers import EVENTS, ledger_on
from tests.support.webhooks import COMPLETED, INSTALLATION, REPO, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def name_of(instance_id: str) -> str:
    return f"runner--{instance_id}"


def ran_on(instance_id: str, runner_id: int) -> dict[str, Any]:
    """The runner that GitHub names for a job."""
    return {"runner_id": runner_id, "runner_name": name_of(instance_id)}


def outlived(client: "DynamoDBClient", instance_id: str, *, job_id: int, suspected_at: str | None) -> None:
    """Launched for a job at 10:01 that ended at 10:12:45."""
    runners = runners_on(client)
    launched = runner_events.launcher("runner_scheduled", job_id=job_id, runner_id=instance_id)
    runner_events.publish(launched, runners)
    there = ran_on(instance_id, job_id)
    ledger_on(client).record(receipt(COMPLETED, at=770, job_id=job_id, guid=f"completed {job_id}", **there))
    if suspected_at:
        runners.table.suspect(instance_id, at=suspected_at, reason=Reason.JOB_COMPLETED)


def register(github: SimulatedGitHub, instance_id: str, *, runner_id: int, busy: bool = False) -> None:
    github.state.put("runners", runner_id, scope=REPO, name=name_of(instance_id), busy=busy)


def terminations(client: "DynamoDBClient", job_id: int) -> int:
    """The terminations in the history of a job."""
    lines = client.query(
        TableName=EVENTS,
        KeyConditionExpression="PK = :job",
        ExpressionAttributeValues={":job": {"S": f"{INSTALLATION}#{job_id}"}},
        ConsistentRead=True,
    )
    return sum(line["event_type"]["S"] == EventType.RUNNER_TERMINATED for line in lines["Items"])
