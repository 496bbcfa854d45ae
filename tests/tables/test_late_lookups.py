"""A machine that AWS no longer describes is recognised by what its events have left."""

from typing import TYPE_CHECKING

from runledger.model.follow_ups import RunnerLookup
from runledger.model.places import Scope
from runledger.model.prices import Price
from runledger.runners import aws_events
from runledger.runners.fleet import Fleet
from runledger.runners.lookups import MachineLookups
from runledger.runners.tracker import RunnerTracker
from runledger.tables.runners import RunnersTable

from tests.support import runner_events
from tests.support.beds import items
from tests.support.ledgers import JOBS, RUNNERS, ledger_on
from tests.support.runner_events import ACCOUNT, SCOPE, TASK
from tests.support.webhooks import COMPLETED, INSTALLATION, JOB, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TASK_ID = TASK.rpartition("/")[2]


def fleet(*regions: str) -> Fleet:
    scope = Scope(account_id=ACCOUNT, regions=regions)
    return Fleet(client=lambda *_: None, scope=scope, clusters=("gpu", "runners"), tags={}, pool_tags=())


def test_a_task_that_ecs_has_forgotten_is_found_by_its_recorded_arn(dynamodb: "DynamoDBClient") -> None:
    """The job's completion was lost, and a pass finds it more than an hour later."""
    ledger = ledger_on(dynamodb)
    table = RunnersTable(dynamodb, RUNNERS, retention_days=14)
    runners = RunnerTracker(table=table, record=ledger.record, scope=SCOPE)
    # The job was planned for another machine, and the task for another job.
    runner_events.publish(runner_events.launcher("runner_scheduled"), runners)
    other = runner_events.launcher("runner_scheduled", runner_id=TASK, kind="ecs", job_id=JOB + 1)
    runner_events.publish(other, runners)
    aws_events.record(runner_events.task_state("RUNNING"), runners)
    aws_events.record(runner_events.task_state("STOPPED", minute=9), runners)
    ledger.record(receipt(COMPLETED, at=765, runner_name=f"ecs-{TASK_ID}"))
    lookup = RunnerLookup(
        installation_id=INSTALLATION,
        job_id=JOB,
        runner_id=TASK_ID,
        kind="ecs",
        repo_full_name=None,
        at="2025-01-15T12:00:00.000Z",
        started_at="2025-01-15T10:02:30.000Z",
    )
    MachineLookups(
        tracker=runners, find_machine=lambda *_: None, find_price=lambda _: Price(), arns_of=fleet("us-east-1").arns_of
    ).look_up(lookup)
    (job,) = [item for item in items(dynamodb, JOBS) if item.get("job_id") == JOB]
    assert job["instance_id"] == TASK
    assert TASK_ID not in {item["PK"] for item in items(dynamodb, RUNNERS)}


def test_the_arn_of_a_task_has_the_partition_of_its_region() -> None:
    assert fleet("us-east-1", "cn-north-1", "us-gov-west-1").arns_of("a") == [
        f"arn:aws:ecs:us-east-1:{ACCOUNT}:task/gpu/a",
        f"arn:aws:ecs:us-east-1:{ACCOUNT}:task/runners/a",
        f"arn:aws-cn:ecs:cn-north-1:{ACCOUNT}:task/gpu/a",
        f"arn:aws-cn:ecs:cn-north-1:{ACCOUNT}:task/runners/a",
        f"arn:aws-us-gov:ecs:us-gov-west-1:{ACCOUNT}:task/gpu/a",
        f"arn:aws-us-gov:ecs:us-gov-west-1:{ACCOUNT}:task/runners/a",
    ]
