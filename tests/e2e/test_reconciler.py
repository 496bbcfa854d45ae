"""The deployed reconciler after the demo: what was lost is found, what was left over is gone, and nothing else is."""

import json
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError
from runledger.tables.attributes import from_attributes
from runledger_github.app import GitHubApp

from local.aws import clients as aws
from local.aws.deployment import RUNNER_TAGS
from local.aws.outputs import Outputs
from local.demo import passes
from local.demo.generator import STOREFRONT
from local.demo.payloads.entities import Job
from local.demo.steps import bus_events, deliveries
from local.demo.workload import Played
from local.github.control import Control
from tests.e2e.tables import history, job
from tests.e2e.test_runners import simulate
from tests.e2e.test_webhooks import post
from tests.support.polling import eventually
from tests.support.webhooks import INSTALLATION, QUEUED, REPO, payload

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

STUCK_JOB, STUCK_RUN = 8_000_001, 8_000_901
LONG_AGO = "2025-01-15T10:00:00.000Z"


def states(outputs: Outputs, *instance_ids: str) -> set[str]:
    """EC2 forgets a terminated instance after an hour, and the emulator after a minute."""
    with closing(aws.client(outputs, "ec2")) as ec2:
        described = ec2.describe_instances()
    found = [each for group in described["Reservations"] for each in group["Instances"]]
    states = {each["InstanceId"]: each["State"]["Name"] for each in found}
    return {states.get(each, "terminated") for each in instance_ids}


def registered(outputs: Outputs) -> set[str]:
    app = simulate(outputs, "GET", "app")
    secret = json.dumps({"app_id": app["id"], "private_key": app["private_key"]})
    github = GitHubApp.from_secret(secret, api_url=outputs.github_api_url)
    return {each["name"] for each in github.installation(STOREFRONT.installation_id).org_runners(STOREFRONT.owner)}


def runner(dynamodb: "DynamoDBClient", outputs: Outputs, partition: str, sort: str = "v") -> dict[str, Any]:
    """An item of the runners table, which also holds what the reconciler remembers."""
    key = {"PK": {"S": partition}, "SK": {"S": sort}}
    found = dynamodb.get_item(TableName=outputs.tables["runners"], Key=key, ConsistentRead=True)
    return from_attributes(found["Item"])


def test_a_job_whose_completion_webhook_was_lost_is_healed_from_githubs_response(
    outputs: Outputs, dynamodb: "DynamoDBClient", played: Played
) -> None:
    (lost,) = [each.subject for each in deliveries(played.steps) if each.lost and isinstance(each.subject, Job)]
    healed = job(dynamodb, outputs, lost.ledger_key)
    assert healed is not None
    assert (healed["status"], healed["conclusion"]) == ("completed", "failure")
    (line,) = [each for each in history(dynamodb, outputs, lost.ledger_key) if each["event_type"] == "job_reconciled"]
    assert line["changes"]["status"] == {"from": "in_progress", "to": "completed"}
    assert f"job {lost.id} of {lost.run.repository.full_name}: in_progress in the ledger, completed (failure)" in (
        played.passes[0].text
    )


def test_a_job_whose_runner_never_came_is_queued_again_and_a_runner_is_requested(
    outputs: Outputs, dynamodb: "DynamoDBClient", played: Played
) -> None:
    announced, *_ = [each for each in bus_events(played.steps) if each.subject.name == "visual tests"]
    found = job(dynamodb, outputs, announced.subject.ledger_key)
    assert found is not None
    assert (found["status"], found["runner_requests"]) == ("queued", 1)
    assert "instance_id" not in found
    types = [each["event_type"] for each in history(dynamodb, outputs, announced.subject.ledger_key)]
    assert types.count("runner_requested") == 1
    assert runner(dynamodb, outputs, announced.runner_id)["status"] == "cleaned"


def test_a_delivery_that_failed_is_redelivered_once_and_recorded(
    outputs: Outputs, dynamodb: "DynamoDBClient", played: Played
) -> None:
    (failed,) = [each for each in deliveries(played.steps) if each.failed]
    assert isinstance(failed.subject, Job)
    log = [row for row in Control(outputs.github_api_url).deliveries() if row["guid"] == failed.delivery_id]
    assert [(row["redelivery"], row["status_code"]) for row in log] == [(True, 202), (False, 504)]
    found = job(dynamodb, outputs, failed.subject.ledger_key)
    assert found is not None
    assert (found["status"], found["conclusion"]) == ("completed", "success")
    lines = history(dynamodb, outputs, failed.subject.ledger_key)
    assert [each["event_type"] for each in lines if each.get("delivery_id") == failed.delivery_id] == [
        "webhook_completed"
    ]


def test_orphans_are_suspected_in_one_pass_and_cleaned_in_the_next(
    outputs: Outputs, dynamodb: "DynamoDBClient", played: Played
) -> None:
    first, second = played.passes
    reasons = {played.machines.outlived: "job_completed", played.machines.unclaimed: "no_job"}
    for machine, reason in reasons.items():
        assert f"runner {machine}: {reason}; suspected" in first.text
        assert f"runner {machine}: {reason}; cleaned: the machine was terminated" in second.text
        item = runner(dynamodb, outputs, machine)
        assert (item["status"], item["terminated_reason"]) == ("cleaned", f"orphan: {reason}")
    assert states(outputs, *reasons) == {"terminated"}
    assert not {f"runner-{machine}" for machine in reasons} & registered(outputs)


def test_what_works_and_what_is_not_ours_is_never_stopped(outputs: Outputs, played: Played) -> None:
    assert states(outputs, *played.machines.survivors) == {"running"}
    assert {f"runner-{played.machines.busy}", f"runner-{played.machines.at_work}"} <= registered(outputs)
    busy = "not cleaned: GitHub reports this runner as busy"
    assert f"runner {played.machines.busy}: job_completed; {busy}" in played.passes[1].text
    assert not any(played.machines.foreign in each.text for each in played.passes)


def test_the_forgotten_approval_is_found_by_the_reconciler(played: Played) -> None:
    for each in played.passes:
        assert each.summary["forgotten_approvals"] >= 1
        assert any("approval of staging" in line and "globex/platform" in line for line in each.excerpt())


def test_a_pass_is_stored_as_it_was_reported(outputs: Outputs, dynamodb: "DynamoDBClient", played: Played) -> None:
    for each in played.passes:
        stored = runner(dynamodb, outputs, "passes", each.id)
        assert (stored["status"], stored["outcome"], stored["text"]) == ("finished", "success", each.text)
        assert json.loads(stored["summary"]) == each.summary


@pytest.fixture
def launchers_queue(outputs: Outputs) -> Iterator[str]:
    """A queue with which a launcher would listen to our bus."""
    with closing(aws.client(outputs, "sqs")) as sqs, closing(aws.client(outputs, "events")) as events:
        url = sqs.create_queue(QueueName="a-launchers-queue")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        rule = {"Name": "a-launchers-rule", "EventBusName": outputs.event_bus}
        pattern = {"source": ["runledger"], "detail-type": ["runner_requested"]}
        events.put_rule(**rule, EventPattern=json.dumps(pattern))
        events.put_targets(Rule=rule["Name"], EventBusName=outputs.event_bus, Targets=[{"Id": "queue", "Arn": arn}])
        yield url
        events.remove_targets(Rule=rule["Name"], EventBusName=outputs.event_bus, Ids=["queue"])
        events.delete_rule(**rule)
        sqs.delete_queue(QueueUrl=url)


def test_a_launcher_receives_a_request_for_a_job_stuck_in_the_queue(
    outputs: Outputs, dynamodb: "DynamoDBClient", launchers_queue: str
) -> None:
    simulate(outputs, "PUT", f"installations/{INSTALLATION}", {"account": REPO.partition("/")[0]})
    simulate(outputs, "PUT", f"runs/{STUCK_RUN}", {"repository": REPO})
    simulate(outputs, "PUT", f"jobs/{STUCK_JOB}", {"run_id": STUCK_RUN, "status": "queued", "created_at": LONG_AGO})
    queued = payload(QUEUED, job_id=STUCK_JOB, run_id=STUCK_RUN)
    assert post(outputs, queued, guid=f"queued {STUCK_JOB}").status == 202
    # It has been received only now: for the reconciler it must have been queued for a while.
    dynamodb.update_item(
        TableName=outputs.tables["workflow_jobs"],
        Key={"PK": {"S": f"{INSTALLATION}#{STUCK_JOB}"}, "SK": {"S": "v"}},
        UpdateExpression="SET queued_reported_at = :long_ago",
        ExpressionAttributeValues={":long_ago": {"S": LONG_AGO}},
    )
    finished = passes.invoke(outputs, "quick")
    assert f"job {STUCK_JOB} of {REPO}: queued, and it has no runner; runner requested (request 1)" in finished.text
    with closing(aws.client(outputs, "sqs")) as sqs:
        received = eventually(lambda: sqs.receive_message(QueueUrl=launchers_queue).get("Messages"))
    details = [json.loads(each["Body"])["detail"] for each in received]
    assert [(each["job_id"], each["request"], each["repo_full_name"]) for each in details] == [(STUCK_JOB, 1, REPO)]


def test_the_reconcilers_role_may_stop_what_carries_the_tag_and_nothing_else(outputs: Outputs) -> None:
    ours = aws.start_instance(outputs, instance_type="t3.nano", tags=RUNNER_TAGS)
    others = {"application": "runledger", "stage": "local"}
    foreign = [aws.start_instance(outputs, instance_type="t3.nano", tags=tags) for tags in ({}, others)]
    with closing(as_reconciler(outputs)) as ec2:
        for instance_id in foreign:
            with pytest.raises(ClientError, match="UnauthorizedOperation"):
                ec2.terminate_instances(InstanceIds=[instance_id])
        ec2.terminate_instances(InstanceIds=[ours])
    assert states(outputs, ours) == {"terminated"}
    assert states(outputs, *foreign) == {"running"}


def as_reconciler(outputs: Outputs) -> Any:
    """EC2, with the rights that the deployed function has."""
    with closing(aws.client(outputs, "lambda")) as functions, closing(aws.client(outputs, "sts")) as sts:
        role = functions.get_function_configuration(FunctionName=outputs.functions["reconciler"])["Role"]
        session = sts.assume_role(RoleArn=role, RoleSessionName="a-test")["Credentials"]
    return boto3.client(
        "ec2",
        endpoint_url=outputs.endpoint_url,
        region_name=outputs.region,
        aws_access_key_id=session["AccessKeyId"],
        aws_secret_access_key=session["SecretAccessKey"],
        aws_session_token=session["SessionToken"],
    )
