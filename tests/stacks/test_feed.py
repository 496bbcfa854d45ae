"""The setting `feeds`: what it adds to the templates, and nothing else."""

import json
import re
from typing import Any

import pytest

from stacks.settings import Settings
from stacks.settings_reader import BadSetting
from tests.stacks.test_dashboard import shown
from tests.stacks.test_functions import ALLOWED, CONSUMES, LOGS
from tests.stacks.test_references import MOST_LOOKED_UP, exports
from tests.support.synthesis import Template, Templates, of_type, synthesise
from tests.support.template_functions import as_list, functions, statements

ADDED = {
    "Reconciler": set[str](),  # it may send to queues without the feed
    "Api": {"sqs:SendMessage", "s3:GetObject", "dynamodb:DeleteItem"},
}
OF_THE_FEED = {
    "FeedStream": {
        *LOGS,
        *("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"),
        *("sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"),
    },
    "FeedWriter": {*LOGS, *CONSUMES, "dynamodb:Query", "dynamodb:GetItem", "dynamodb:PutItem", "s3:PutObject"},
}


@pytest.fixture(scope="module")
def with_feed() -> Templates:
    return synthesise(feeds=True)


def actions(templates: Templates, name: str) -> set[str]:
    template, function = functions(templates)[name]
    granted = statements(template, function["Role"]["Fn::GetAtt"][0])
    return {action for statement in granted for action in as_list(statement["Action"])}


def mappings(template: Template) -> list[dict[str, Any]]:
    found = of_type(template, "AWS::Lambda::EventSourceMapping").values()
    return [each for each in found if "StartingPosition" in each]


def test_by_default_there_is_no_feed(templates: Templates) -> None:
    assert synthesise(feeds=False, feed_types="*", feed_retention_days=30) == templates
    text = json.dumps(templates)
    assert "FEED_" not in text
    assert "StreamSpecification" not in text
    assert "FifoQueue" not in text


def test_the_feed_adds_exactly_these_permissions(with_feed: Templates) -> None:
    assert functions(with_feed).keys() == ALLOWED.keys() | OF_THE_FEED.keys()
    for name, allowed in ALLOWED.items():
        assert actions(with_feed, name) == allowed | ADDED.get(name, set())
    for name, allowed in OF_THE_FEED.items():
        assert actions(with_feed, name) == allowed


def test_intake_is_the_same_with_the_feed(templates: Templates, with_feed: Templates) -> None:
    for name in ("WebhookIntake", "WebhookRetry"):
        assert functions(with_feed)[name][1] == functions(templates)[name][1]
        assert actions(with_feed, name) == actions(templates, name)


def test_the_tables_have_streams_of_both_images_and_keep_everything_else(
    templates: Templates, with_feed: Templates
) -> None:
    before, after = (of_type(each["data"], "AWS::DynamoDB::Table") for each in (templates, with_feed))
    (added,) = after.keys() - before.keys()
    assert added.startswith("Feed")
    for name, properties in before.items():
        assert after[name] == properties | {"StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"}}
    feed = after[added]
    assert {each["IndexName"] for each in feed["GlobalSecondaryIndexes"]} == {"by_type", "by_status"}
    assert {each["Projection"]["ProjectionType"] for each in feed["GlobalSecondaryIndexes"]} == {"KEYS_ONLY"}
    assert feed["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}


def test_each_stream_is_split_on_errors_retried_and_not_dropped_silently(with_feed: Templates) -> None:
    found = mappings(with_feed["events"])
    assert len(found) == 5
    for each in found:
        assert each["BisectBatchOnFunctionError"] is True
        assert each["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert each["MaximumRetryAttempts"] == -1
        assert each["StartingPosition"] == "TRIM_HORIZON"
        assert "FeedStreamDeadLetters" in json.dumps(each["DestinationConfig"]["OnFailure"])
    reconciled = [each for each in found if "job_reconciled" in json.dumps(each["FilterCriteria"])]
    assert len(reconciled) == 1


def test_each_installation_has_one_writer_at_a_time(with_feed: Templates) -> None:
    """FIFO, and its messages stay hidden for longer than a writer can live."""
    queues = of_type(with_feed["events"], "AWS::SQS::Queue")
    fifo = {name: each for name, each in queues.items() if each.get("FifoQueue")}
    assert len(fifo) == 2
    (queue,) = [each for each in fifo.values() if "RedrivePolicy" in each]
    _, writer = functions(with_feed)["FeedWriter"]
    assert queue["VisibilityTimeout"] >= 6 * writer["Timeout"]
    assert queue["DeduplicationScope"] == "messageGroup"
    triggers = of_type(with_feed["events"], "AWS::Lambda::EventSourceMapping").values()
    (trigger,) = [each for each in triggers if "FeedEvents" in json.dumps(each["EventSourceArn"])]
    assert trigger["BatchSize"] == 1


def test_the_api_moves_consumers_and_changes_no_event(with_feed: Templates) -> None:
    template, function = functions(with_feed)["Api"]
    granted = statements(template, function["Role"]["Fn::GetAtt"][0])
    writes = [each for each in granted if "dynamodb:UpdateItem" in as_list(each["Action"])]
    assert sorted(json.dumps(each["Condition"]) for each in writes) == [
        '{"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["passes"]}}',
        '{"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["*#consumers", "*#posts"]}}',
    ]
    (removal,) = [each for each in granted if "dynamodb:DeleteItem" in as_list(each["Action"])]
    assert removal["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["*#consumers"]}}


def test_nothing_that_goes_with_the_setting_is_exported(templates: Templates, with_feed: Templates) -> None:
    """An export that another stack imports would block the update that turns the feed off."""
    for name in templates:
        assert exports(with_feed[name]).keys() == exports(templates[name]).keys()
        assert json.dumps(with_feed[name]).count('"Fn::GetStackOutput"') <= MOST_LOOKED_UP
    looked_up = set(re.findall(r'"OutputName": "([^"]+)"', json.dumps(with_feed)))
    outputs = {name for template in with_feed.values() for name in template.get("Outputs", {})}
    assert looked_up <= outputs


def test_the_feed_is_watched_and_shown(templates: Templates, with_feed: Templates) -> None:
    def alarms(found: Templates) -> set[str]:
        return {
            each["AlarmName"].removeprefix("runledger-prod-")
            for template in found.values()
            for each in of_type(template, "AWS::CloudWatch::Alarm").values()
        }

    assert alarms(with_feed) - alarms(templates) == {
        *("FeedBacklog", "FeedDelayed", "QueueAge-FeedEvents", "DeadLetters-FeedEvents", "DeadLetters-FeedStream"),
        *("FunctionErrors-feed_stream", "FunctionErrors-feed_writer"),
        *("MessageFailures-feed_stream", "MessageFailures-feed_writer", "Throttled-feed-PutItem"),
    }
    assert ("Runledger", "FeedEventsWritten") in shown(with_feed)
    assert ("Runledger", "FeedEventsWritten") not in shown(templates)


@pytest.mark.parametrize("types", ["", "Job.failed", "job failed", "job.*.x", 7, "a.b," * 300])
def test_a_list_of_types_that_matches_nothing_is_rejected(types: object) -> None:
    with pytest.raises(BadSetting, match="feed_types"):
        Settings.read({"feed_types": types}.get)


def test_types_reach_the_functions_that_send(with_feed: Templates) -> None:
    found = synthesise(feeds=True, feed_types="job.failed, approval.*")
    for name in ("FeedStream", "Api", "Reconciler"):
        assert functions(found)[name][1]["Environment"]["Variables"]["FEED_TYPES"] == "job.failed,approval.*"
        assert functions(with_feed)[name][1]["Environment"]["Variables"]["FEED_TYPES"] == "*"
