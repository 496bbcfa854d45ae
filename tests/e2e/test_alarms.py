"""The deployed alarms watch metrics that exist, and notify the subscribers of their topic."""

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from local.aws import clients as aws
from local.aws.outputs import Outputs

FROM_TOPICS = {
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "sns.amazonaws.com"}, "Action": "sqs:SendMessage", "Resource": "*"}
    ]
}


@pytest.fixture
def alarms(outputs: Outputs) -> list[dict[str, Any]]:
    with closing(aws.client(outputs, "cloudwatch")) as cloudwatch:
        pages = cloudwatch.get_paginator("describe_alarms").paginate(AlarmNamePrefix="runledger-local-")
        return [alarm for page in pages for alarm in page["MetricAlarms"]]


@pytest.fixture
def subscribed(outputs: Outputs, alarms: list[dict[str, Any]]) -> Iterator[str]:
    """A queue that receives alarms, as a mailbox would."""
    (topic,) = {arn for alarm in alarms for arn in alarm["AlarmActions"]}
    with closing(aws.client(outputs, "sqs")) as sqs, closing(aws.client(outputs, "sns")) as sns:
        url = sqs.create_queue(QueueName="mailbox", Attributes={"Policy": json.dumps(FROM_TOPICS)})["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        subscription = sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, ReturnSubscriptionArn=True)
        yield url
        sns.unsubscribe(SubscriptionArn=subscription["SubscriptionArn"])
        sqs.delete_queue(QueueUrl=url)


def test_every_alarm_looks_at_something_that_exists(outputs: Outputs, alarms: list[dict[str, Any]]) -> None:
    with closing(aws.client(outputs, "sqs")) as sqs:
        queues = {url.rpartition("/")[2] for url in sqs.list_queues()["QueueUrls"]}
    there = {
        "ApiId": {outputs.api_url.rpartition("/")[2]},
        "FunctionName": set(outputs.functions.values()),
        "QueueName": queues,
        "TableName": set(outputs.tables.values()),
        "Operation": {"GetItem", "PutItem", "UpdateItem"},
        "service": {"runledger"},
        "stage": {"local"},
        "function": set(outputs.functions),
        "kind": {"queued", "scheduled", "in_progress"},
    }
    dimensions = [dimension for alarm in alarms for dimension in alarm["Dimensions"]]
    assert {dimension["Name"] for dimension in dimensions} == there.keys()
    assert [each for each in dimensions if each["Value"] not in there[each["Name"]]] == []


def test_an_alarm_notifies_its_subscribers(outputs: Outputs, subscribed: str) -> None:
    with closing(aws.client(outputs, "cloudwatch")) as cloudwatch, closing(aws.client(outputs, "sqs")) as sqs:
        metric = {"MetricName": "OrphanedRunnersOverdue", "Value": 1.0}
        dimensions = [{"Name": "service", "Value": "runledger"}, {"Name": "stage", "Value": "local"}]
        cloudwatch.put_metric_data(Namespace="Runledger", MetricData=[{**metric, "Dimensions": dimensions}])
        (message,) = sqs.receive_message(QueueUrl=subscribed, WaitTimeSeconds=20)["Messages"]
    notification = json.loads(json.loads(message["Body"])["Message"])
    assert (notification["AlarmName"], notification["NewStateValue"]) == ("runledger-local-OrphansOverdue", "ALARM")
    assert "See docs/monitoring.md" in notification["AlarmDescription"]


def test_the_cloudwatch_dashboard_is_deployed(outputs: Outputs) -> None:
    with closing(aws.client(outputs, "cloudwatch")) as cloudwatch:
        body = json.loads(cloudwatch.get_dashboard(DashboardName=f"runledger-local-{outputs.region}")["DashboardBody"])
    assert len(body["widgets"]) > 20
    assert outputs.tables["workflow_jobs"] in json.dumps(body)
