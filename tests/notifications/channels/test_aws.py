"""Topics of SNS and buses of EventBridge, on moto, with what subscribers of a topic and rules of a bus receive."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws
from runledger.notifications.channels.interface import Channel, ChannelKind, SendOutcome, SendResult
from runledger.notifications.channels.opening import Channels

from tests.feeds import cloud_events
from tests.notifications.channels.scene import JOB, MESSAGE_ID, event, outgoing
from tests.support.channels import channel_settings

ACCOUNT = "123456789012"


@dataclass(kw_only=True)
class Cloud:
    sns: Any
    events: Any
    sqs: Any
    queue_url: str
    topics: dict[str, str]
    buses: dict[str, str]

    def open(self, kind: ChannelKind, target: str, **replaced: Any) -> Channel:
        settings = channel_settings(sns_topics=self.topics, event_buses=self.buses)
        clients = {"sns": self.sns, "events": self.events} | replaced
        return Channels(settings=settings, client=lambda service, _region: clients[service]).open(
            kind, {"target": target}, []
        )

    def received(self) -> list[dict[str, Any]]:
        """The messages that a queue received from the topic."""
        found = self.sqs.receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10).get("Messages", [])
        for message in found:
            self.sqs.delete_message(QueueUrl=self.queue_url, ReceiptHandle=message["ReceiptHandle"])
        return [json.loads(message["Body"]) for message in found]


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    with mock_aws():
        sns: Any = boto3.client("sns", region_name="eu-west-1")
        events: Any = boto3.client("events", region_name="eu-west-1")
        sqs: Any = boto3.client("sqs", region_name="eu-west-1")
        url = sqs.create_queue(QueueName="received")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        topic = sns.create_topic(Name="alerts")["TopicArn"]
        fifo = sns.create_topic(Name="ordered.fifo", Attributes={"FifoTopic": "true"})["TopicArn"]
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
        bus = events.create_event_bus(Name="main")["EventBusArn"]
        yield Cloud(
            sns=sns,
            events=events,
            sqs=sqs,
            queue_url=url,
            topics={"alerts": topic, "ordered": fifo},
            buses={"main": bus},
        )


class Recording:
    """Keeps the requests, and passes them on."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.requests: list[dict[str, Any]] = []

    def publish(self, **request: Any) -> Any:
        self.requests.append(request)
        return self._client.publish(**request)

    def put_events(self, **request: Any) -> Any:
        self.requests.append(request)
        return self._client.put_events(**request)


class Failing:
    """A client whose calls fail with an error of AWS."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def publish(self, **_: Any) -> Any:
        raise self._error

    put_events = publish


def client_error(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": f"arn:aws:sns:eu-west-1:{ACCOUNT}:alerts"}}, "Publish")


def test_subscribers_of_a_topic_get_the_cloudevent(cloud: Cloud) -> None:
    cloud.received()
    result = cloud.open(ChannelKind.SNS, "alerts").send(outgoing())
    (message,) = cloud.received()
    assert result == SendResult.accepted(message["MessageId"])
    assert message["Subject"] == "Job failed: build in acme/storefront"
    assert cloud_events.read(json.loads(message["Message"])).get_data() == JOB
    assert message["MessageAttributes"]["type"]["Value"] == "job.failed"
    assert message["MessageAttributes"]["message_id"]["Value"] == MESSAGE_ID


def test_email_gets_text_instead(cloud: Cloud) -> None:
    sns = Recording(cloud.sns)
    cloud.open(ChannelKind.SNS, "alerts", sns=sns).send(outgoing())
    content = json.loads(sns.requests[0]["Message"])
    assert content["email"].splitlines()[0] == "Job failed: build in acme/storefront"
    assert content["email"].splitlines()[-1] == JOB["job_html_url"]
    assert content["sms"] == "Job failed: build in acme/storefront"


@pytest.mark.parametrize("name", ["\u00e4\U0001f4a9", "a\nb", "x" * 500])
def test_a_subject_is_accepted_whatever_the_name_is(cloud: Cloud, name: str) -> None:
    cloud.received()
    result = cloud.open(ChannelKind.SNS, "alerts").send(outgoing(data=JOB | {"job_name": name}))
    assert result.outcome is SendOutcome.ACCEPTED
    (message,) = cloud.received()
    assert message["Subject"].isascii()
    assert len(message["Subject"]) < 100


def test_a_fifo_topic_recognises_a_repeated_message(cloud: Cloud) -> None:
    channel = cloud.open(ChannelKind.SNS, "ordered")
    assert channel.send(outgoing()).outcome is SendOutcome.ACCEPTED
    assert channel.send(outgoing()).outcome is SendOutcome.ACCEPTED


def test_rules_of_a_bus_get_the_cloudevent_and_the_id_of_the_message(cloud: Cloud) -> None:
    events = Recording(cloud.events)
    result = cloud.open(ChannelKind.EVENTBRIDGE, "main", events=events).send(outgoing())
    assert result.outcome is SendOutcome.ACCEPTED
    assert result.notification_id
    (entry,) = events.requests[0]["Entries"]
    assert (entry["Source"], entry["DetailType"]) == ("runledger.notifications", "job.failed")
    assert entry["EventBusName"] == cloud.buses["main"]
    detail = json.loads(entry["Detail"])
    assert (detail["messageid"], detail["data"]) == (MESSAGE_ID, JOB)
    cloud_events.read(detail)


@pytest.mark.parametrize("kind", [ChannelKind.SNS, ChannelKind.EVENTBRIDGE])
def test_data_that_is_too_large_is_replaced_by_its_address(cloud: Cloud, kind: ChannelKind) -> None:
    target = {ChannelKind.SNS: "alerts", ChannelKind.EVENTBRIDGE: "main"}[kind]
    envelope = event("audit.finished", {"notes": "n" * 210_000})
    sns, events = Recording(cloud.sns), Recording(cloud.events)
    channel = cloud.open(kind, target, sns=sns, events=events)
    assert channel.send(outgoing(envelope=envelope)).outcome is SendOutcome.ACCEPTED
    if kind is ChannelKind.SNS:
        found = json.loads(json.loads(sns.requests[0]["Message"])["default"])
    else:
        found = json.loads(events.requests[0]["Entries"][0]["Detail"])
    assert "data" not in found
    assert found["dataref"] == f"/v1/installations/41000001/feed/{envelope['id']}"


@pytest.mark.parametrize("kind", [ChannelKind.SNS, ChannelKind.EVENTBRIDGE])
def test_a_target_that_the_deployment_does_not_name_any_more_is_refused(cloud: Cloud, kind: ChannelKind) -> None:
    result = cloud.open(kind, "removed").send(outgoing())
    assert result.outcome is SendOutcome.REFUSED
    assert "removed" not in str(result.error)


@pytest.mark.parametrize("kind", [ChannelKind.SNS, ChannelKind.EVENTBRIDGE])
@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (client_error("NotFound"), SendOutcome.TRY_LATER),
        (client_error("AuthorizationError"), SendOutcome.TRY_LATER),
        (client_error("Throttling"), SendOutcome.TRY_LATER),
        (client_error("InvalidParameter"), SendOutcome.REFUSED),
        (client_error("<evil>"), SendOutcome.TRY_LATER),
        (EndpointConnectionError(endpoint_url=f"https://sns/{ACCOUNT}"), SendOutcome.TRY_LATER),
    ],
)
def test_an_error_of_aws_leads_to_a_receipt_with_its_code_only(
    cloud: Cloud, kind: ChannelKind, error: Exception, outcome: SendOutcome
) -> None:
    target = {ChannelKind.SNS: "alerts", ChannelKind.EVENTBRIDGE: "main"}[kind]
    result = cloud.open(kind, target, sns=Failing(error), events=Failing(error)).send(outgoing())
    assert result.outcome is outcome
    assert ACCOUNT not in str(result.error)
    assert "<evil>" not in str(result.error)


@pytest.mark.parametrize(
    ("kind", "service"), [(ChannelKind.SNS, "sns"), (ChannelKind.EVENTBRIDGE, "events")], ids=["sns", "events"]
)
def test_a_target_in_another_region_is_called_there(kind: ChannelKind, service: str) -> None:
    arn = f"arn:aws:{service}:us-east-2:{ACCOUNT}:alerts"
    called: list[tuple[str, str]] = []
    settings = channel_settings(sns_topics={"alerts": arn}, event_buses={"alerts": arn})
    Channels(settings=settings, client=lambda *named: called.append(named)).open(kind, {"target": "alerts"}, [])
    assert called == [(service, "us-east-2")]


def test_an_entry_that_the_bus_rejects_is_tried_later(cloud: Cloud) -> None:
    class Rejecting:
        def put_events(self, **_: Any) -> Any:
            return {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "InternalFailure", "ErrorMessage": ACCOUNT}]}

    result = cloud.open(ChannelKind.EVENTBRIDGE, "main", events=Rejecting()).send(outgoing())
    assert result == SendResult.try_later("EventBridge rejected the message: InternalFailure")
