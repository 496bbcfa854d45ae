"""The setting `notifications`: what it adds to the templates, and nothing else."""

import json
import re
from typing import Any

import pytest
from runledger.notifications.sender import LEASE_SECONDS

from stacks.settings import Settings
from stacks.settings_reader import BadSetting
from tests.stacks.test_dashboard import shown
from tests.stacks.test_feed import ADDED as ADDED_BY_THE_FEED
from tests.stacks.test_feed import OF_THE_FEED, actions
from tests.stacks.test_functions import ALLOWED, CONSUMES, LOGS
from tests.stacks.test_references import exports
from tests.support.synthesis import Templates, of_type, synthesise
from tests.support.template_functions import as_list, functions, statements

TOPIC = "arn:aws:sns:eu-central-1:123456789012:builds"
BUS = "arn:aws:events:eu-central-1:123456789012:event-bus/team"
TARGETS = {"notification_sns_topics": f"builds={TOPIC}", "notification_event_buses": f"team={BUS}"}
# Each dead-letter queue is two more in the stack of the API. Its table has a fixed name, so it is none.
MOST_LOOKED_UP = 30
ADDED = {
    "Api": {
        *("sqs:SendMessage", "s3:GetObject", "dynamodb:DeleteItem", "dynamodb:PutItem"),
        *("secretsmanager:CreateSecret", "secretsmanager:PutSecretValue", "secretsmanager:DeleteSecret"),
    }
}
OF_NOTIFICATIONS = {
    "NotificationRouter": {
        *LOGS,
        *("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"),
        *("dynamodb:Query", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"),
        *("sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"),
    },
    "NotificationSender": {
        *LOGS,
        *CONSUMES,
        *("dynamodb:Query", "dynamodb:GetItem", "dynamodb:UpdateItem", "sqs:SendMessage"),
        *("secretsmanager:GetSecretValue", "sns:Publish", "events:PutEvents"),
    },
    "NotificationSchedules": {
        *LOGS,
        *("dynamodb:Query", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:BatchGetItem"),
        "sqs:SendMessage",
    },
}


@pytest.fixture(scope="module")
def with_feed() -> Templates:
    return synthesise(feeds=True)


@pytest.fixture(scope="module")
def with_notifications() -> Templates:
    return synthesise(feeds=True, notifications=True, **TARGETS)


def granted(templates: Templates, name: str) -> list[dict[str, Any]]:
    template, function = functions(templates)[name]
    return list(statements(template, function["Role"]["Fn::GetAtt"][0]))


def test_by_default_there_are_no_notifications(templates: Templates, with_feed: Templates) -> None:
    assert synthesise(notifications=False, notifications_retention_days=90) == templates
    assert "NOTIFICATION" not in json.dumps(templates)
    assert "NOTIFICATION" not in json.dumps(with_feed)


def test_notifications_add_exactly_these_permissions(with_notifications: Templates) -> None:
    found = functions(with_notifications)
    assert found.keys() == ALLOWED.keys() | OF_THE_FEED.keys() | OF_NOTIFICATIONS.keys()
    for name, allowed in ALLOWED.items():
        more = ADDED.get(name, set()) | ADDED_BY_THE_FEED.get(name, set())
        assert actions(with_notifications, name) == allowed | more, name
    for name, allowed in OF_NOTIFICATIONS.items():
        assert actions(with_notifications, name) == allowed, name


def test_intake_and_the_functions_of_the_feed_are_the_same(with_feed: Templates, with_notifications: Templates) -> None:
    for name in ("WebhookIntake", "WebhookRetry", "FeedStream", "FeedWriter", "Reconciler"):
        assert functions(with_notifications)[name][1] == functions(with_feed)[name][1]
        assert actions(with_notifications, name) == actions(with_feed, name)


def test_the_tables_gain_a_stream_of_the_feed_and_a_table(with_feed: Templates, with_notifications: Templates) -> None:
    before, after = (of_type(each["data"], "AWS::DynamoDB::Table") for each in (with_feed, with_notifications))
    (added,) = after.keys() - before.keys()
    for name, properties in before.items():
        stream = {"StreamSpecification": {"StreamViewType": "NEW_IMAGE"}} if name.startswith("Feed") else {}
        assert after[name] == properties | stream
    table = after[added]
    assert table["TableName"] == "runledger-prod-notifications"
    indexes = {each["IndexName"] for each in table["GlobalSecondaryIndexes"]}
    assert indexes == {"by_status", "by_type", "by_creation", "by_due"}
    assert {each["Projection"]["ProjectionType"] for each in table["GlobalSecondaryIndexes"]} == {"KEYS_ONLY"}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}


def test_the_router_gets_new_events_only_and_drops_none_silently(with_notifications: Templates) -> None:
    mappings = of_type(with_notifications["events"], "AWS::Lambda::EventSourceMapping").values()
    (found,) = [each for each in mappings if "NotificationRouter" in json.dumps(each["FunctionName"])]
    (pattern,) = [json.loads(each["Pattern"]) for each in found["FilterCriteria"]["Filters"]]
    assert pattern["eventName"] == ["INSERT"]
    assert found["MaximumRetryAttempts"] == -1
    assert found["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert "NotificationRouterDeadLetters" in json.dumps(found["DestinationConfig"]["OnFailure"])


def test_both_lanes_have_senders_of_their_own_that_take_one_message_at_a_time(with_notifications: Templates) -> None:
    template = with_notifications["events"]
    mappings = of_type(template, "AWS::Lambda::EventSourceMapping").values()
    lanes = [each for each in mappings if "NotificationSender" in json.dumps(each["FunctionName"])]
    assert [(each["BatchSize"], each["ScalingConfig"]["MaximumConcurrency"]) for each in lanes] == [(1, 2)] * 2
    _, sender = functions(with_notifications)["NotificationSender"]
    queues = of_type(template, "AWS::SQS::Queue")
    hidden = {queues[each["EventSourceArn"]["Fn::GetAtt"][0]]["VisibilityTimeout"] for each in lanes}
    assert all(sender["Timeout"] < LEASE_SECONDS < each for each in hidden)


def test_the_api_writes_secrets_of_subscriptions_and_reads_none(with_notifications: Templates) -> None:
    api, sender = granted(with_notifications, "Api"), granted(with_notifications, "NotificationSender")
    for each in api:
        if any(action.startswith("secretsmanager:") for action in as_list(each["Action"])):
            is_of_subscriptions = "runledger-prod/notifications/*" in json.dumps(each["Resource"])
            assert is_of_subscriptions is ("secretsmanager:GetSecretValue" not in as_list(each["Action"]))
    (read,) = [each for each in sender if "secretsmanager:GetSecretValue" in as_list(each["Action"])]
    assert "runledger-prod/notifications/*" in json.dumps(read["Resource"])
    for name in functions(with_notifications).keys() - {"Api", "NotificationSender"}:
        assert "/notifications/*" not in json.dumps(granted(with_notifications, name))


def test_the_api_changes_subscriptions_and_messages_and_nothing_else_of_the_table(
    with_notifications: Templates,
) -> None:
    conditions = {
        action: each["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
        for each in granted(with_notifications, "Api")
        for action in as_list(each["Action"])
        if action in ("dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem")
        and "runledger-prod-notifications" in json.dumps(each["Resource"])
    }
    assert conditions == {
        "dynamodb:PutItem": ["*#subscriptions", "*#messages#*", "subscribers"],
        "dynamodb:UpdateItem": ["*#messages#*", "*#hours#all"],
        "dynamodb:DeleteItem": ["*#subscriptions", "*#health"],
    }


def test_the_sender_may_send_to_the_named_topics_and_buses_only(with_notifications: Templates) -> None:
    found = {
        action: each["Resource"]
        for each in granted(with_notifications, "NotificationSender")
        for action in as_list(each["Action"])
    }
    assert (found["sns:Publish"], found["events:PutEvents"]) == (TOPIC, BUS)


def test_the_tick_comes_every_five_minutes_and_is_not_repeated(with_notifications: Templates) -> None:
    (found,) = of_type(with_notifications["events"], "AWS::Scheduler::Schedule").values()
    assert found["ScheduleExpression"] == "rate(5 minutes)"
    assert found["Target"]["RetryPolicy"]["MaximumRetryAttempts"] == 0
    configs = of_type(with_notifications["events"], "AWS::Lambda::EventInvokeConfig").values()
    (config,) = [each for each in configs if "NotificationSchedules" in each["FunctionName"]["Ref"]]
    assert (config["MaximumRetryAttempts"], config["MaximumEventAgeInSeconds"]) == (0, 300)


def test_only_schedules_of_this_account_use_the_role_of_the_tick(with_notifications: Templates) -> None:
    template = with_notifications["events"]
    (schedule,) = of_type(template, "AWS::Scheduler::Schedule").values()
    role = of_type(template, "AWS::IAM::Role")[schedule["Target"]["RoleArn"]["Fn::GetAtt"][0]]
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


def test_lambda_does_not_take_the_retries_of_the_sender_for_an_endless_loop(with_notifications: Templates) -> None:
    """By default, it makes the next message of a function to itself a dead letter after 16 in a row."""
    for name, (_, function) in functions(with_notifications).items():
        assert function.get("RecursiveLoop") == ("Allow" if name == "NotificationSender" else None), name


def test_nothing_that_goes_with_the_setting_is_exported(templates: Templates, with_notifications: Templates) -> None:
    for name in templates:
        assert exports(with_notifications[name]).keys() == exports(templates[name]).keys()
        assert json.dumps(with_notifications[name]).count('"Fn::GetStackOutput"') <= MOST_LOOKED_UP
    looked_up = set(re.findall(r'"OutputName": "([^"]+)"', json.dumps(with_notifications)))
    outputs = {name for template in with_notifications.values() for name in template.get("Outputs", {})}
    assert looked_up <= outputs


def test_notifications_are_watched_and_shown(with_feed: Templates, with_notifications: Templates) -> None:
    def alarms(found: Templates) -> set[str]:
        return {
            each["AlarmName"].removeprefix("runledger-prod-")
            for template in found.values()
            for each in of_type(template, "AWS::CloudWatch::Alarm").values()
        }

    assert alarms(with_notifications) - alarms(with_feed) == {
        *("NotificationsFailed", "NotificationsWaiting", "NotificationsDelayed", "QueueAge-Notifications"),
        *("DeadLetters-Notifications", "DeadLetters-NotificationsSlow", "DeadLetters-NotificationRouter"),
        *(f"FunctionErrors-notification_{name}" for name in ("router", "sender", "schedules")),
        *(f"MessageFailures-notification_{name}" for name in ("router", "sender")),
        *("Throttled-notifications-PutItem", "Throttled-notifications-UpdateItem"),
    }
    assert ("Runledger", "NotificationsFailed") in shown(with_notifications)
    assert ("Runledger", "NotificationsFailed") not in shown(with_feed)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"notifications": True}, "feeds"),
        ({"notification_sns_topics": "builds"}, "notification_sns_topics"),
        ({"notification_sns_topics": f"builds={BUS}"}, "notification_sns_topics"),
        ({"notification_event_buses": f"a b={BUS}"}, "notification_event_buses"),
        ({"notification_event_buses": ",".join(f"b{each}={BUS}" for each in range(11))}, "at most"),
        ({"notification_slack_hosts": ""}, "notification_slack_hosts"),
        ({"notification_slack_hosts": "Hooks.Slack.com"}, "notification_slack_hosts"),
        ({"notification_allow_loopback": True}, "throw_away"),
    ],
)
def test_invalid_settings_are_rejected(settings: dict[str, object], problem: str) -> None:
    with pytest.raises(BadSetting, match=problem):
        Settings.read(settings.get)
