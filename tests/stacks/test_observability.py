"""Nothing that is deployed can fail in silence: every queue, function and table has its alarms and its graphs."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from runledger.platform import emf

from tests.support.documents import names, section
from tests.support.synthesis import Templates, of_type, synthesise

Alarm = dict[str, Any]


def alarms(templates: Templates) -> dict[str, Alarm]:
    """The alarms by name, without the prefix of the stage."""
    made = [each for template in templates.values() for each in of_type(template, "AWS::CloudWatch::Alarm").values()]
    return {alarm["AlarmName"].removeprefix("runledger-prod-"): alarm for alarm in made}


def watched(templates: Templates, kind: str) -> set[str]:
    """The resources that the alarms of one kind look at, each in the alarm's own stack."""
    return {
        dimension["Value"].get("Ref") or dimension["Value"]["Fn::GetAtt"][0]
        for name, alarm in alarms(templates).items()
        for dimension in alarm["Dimensions"]
        if name.partition("-")[0] == kind and isinstance(dimension["Value"], dict)
    }


def elsewhere(templates: Templates, resource_type: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for stack in ("events", "api"):
        yield from of_type(templates[stack], resource_type).items()


def test_every_queue_has_an_alarm(templates: Templates) -> None:
    queues = dict(elsewhere(templates, "AWS::SQS::Queue"))
    worked_off = {name for name, queue in queues.items() if "RedrivePolicy" in queue}
    assert watched(templates, "QueueAge") == worked_off
    assert watched(templates, "DeadLetters") == queues.keys() - worked_off


def test_every_function_has_an_alarm_for_crashes_and_time_outs(templates: Templates) -> None:
    assert watched(templates, "FunctionErrors") == {name for name, _ in elsewhere(templates, "AWS::Lambda::Function")}


def test_every_function_fed_by_a_queue_has_an_alarm_for_failed_messages(templates: Templates) -> None:
    """Lambda counts no error when a function reports that messages of a batch failed."""
    functions = dict(elsewhere(templates, "AWS::Lambda::Function"))
    fed = [mapping["FunctionName"]["Ref"] for _, mapping in elsewhere(templates, "AWS::Lambda::EventSourceMapping")]
    files = {functions[name]["Handler"].removesuffix(".handler") for name in fed}
    failures = [alarm for name, alarm in alarms(templates).items() if name.startswith("MessageFailures-")]
    assert len(files) == len(failures) > 5
    assert {dimensions(alarm)["function"] for alarm in failures} == files


def dimensions(alarm: Alarm) -> dict[str, Any]:
    return {dimension["Name"]: dimension["Value"] for dimension in alarm["Dimensions"]}


def failing_queues(templates: Templates) -> dict[str, tuple[int, int]]:
    """Visibility timeout and number of receives of each queue that is processed."""
    return {
        name.partition("Queue")[0]: (queue["VisibilityTimeout"], queue["RedrivePolicy"]["maxReceiveCount"])
        for name, queue in elsewhere(templates, "AWS::SQS::Queue")
        if "RedrivePolicy" in queue
    }


def test_a_failing_message_reaches_the_age_that_alarms(templates: Templates) -> None:
    """SQS leaves it out of the metric at its third receive, and measures once a minute."""
    for name, (visibility, _) in failing_queues(templates).items():
        alarm = alarms(templates)[f"QueueAge-{name}"]
        assert alarm["Threshold"] + 60 <= 2 * visibility
        assert alarm["EvaluationPeriods"] == 1


@pytest.mark.parametrize("regions", ["", "eu-west-1,ap-southeast-2"])
@pytest.mark.parametrize("kind", ["MessageFailures", "FunctionErrors"])
def test_one_message_that_always_fails_sets_off_the_alarm_whenever_it_arrives(kind: str, regions: str) -> None:
    """However its receives fall into the periods of the alarm, one period holds enough of them."""
    templates = synthesise(runner_regions=regions)
    fed = {dimensions(alarm)["function"] for name, alarm in alarms(templates).items() if "MessageFailures" in name}
    intervals = set(failing_queues(templates).values())
    for function, (visibility, receives) in itertools.product(fed, intervals):
        alarm = alarms(templates)[f"{kind}-{function}"]
        for first in range(0, alarm["Period"], 30):
            tries = Counter((first + number * visibility) // alarm["Period"] for number in range(receives))
            assert max(tries.values()) >= alarm["Threshold"]


def test_a_schedule_that_always_fails_reaches_the_alarm(templates: Templates) -> None:
    rates = [
        int(re.findall(r"\d+", rule["ScheduleExpression"])[0]) * 60
        for _, rule in elsewhere(templates, "AWS::Events::Rule")
        if "ScheduleExpression" in rule
    ]
    alarm = alarms(templates)["FunctionErrors-reconciler"]
    assert alarm["Period"] // max(rates) >= alarm["Threshold"]


def test_every_table_has_an_alarm(templates: Templates) -> None:
    assert watched(templates, "Throttled") == of_type(templates["data"], "AWS::DynamoDB::Table").keys()


@pytest.mark.parametrize(
    ("name", "metric", "rings"),
    [
        ("ServerErrors", "AWS/ApiGateway 5xx", "Sum of 300 s > 0, 1 of 1"),
        ("QueueAge-WebhookRetries", "AWS/SQS ApproximateAgeOfOldestMessage", "Maximum of 300 s > 600, 1 of 1"),
        ("DeadLetters-WebhookRetries", "AWS/SQS ApproximateNumberOfMessagesVisible", "Maximum of 300 s > 0, 1 of 1"),
        ("FunctionErrors-reconciler", "AWS/Lambda Errors", "Sum of 3600 s >= 2, 1 of 1"),
        ("ReconciliationErrors", "Runledger ReconciliationErrors", "Sum of 3600 s > 5, 1 of 1"),
        ("OrphanRate", "Runledger OrphanedRunnerRate", "Average of 3600 s > 0.1, 1 of 1"),
        ("FunctionErrors-webhook_intake", "AWS/Lambda Errors", "Sum of 900 s >= 3, 1 of 1"),
        ("FunctionErrors-webhook_retry", "AWS/Lambda Errors", "Sum of 1800 s >= 3, 1 of 1"),
        ("MessageFailures-webhook_retry", "Runledger MessagesFailed", "Sum of 1800 s >= 3, 1 of 1"),
        ("StuckJobs-queued", "Runledger StuckJobs", "Maximum of 900 s > 0, 2 of 2"),
        ("StuckJobs-scheduled", "Runledger StuckJobs", "Maximum of 900 s > 0, 2 of 2"),
        ("StuckJobs-in_progress", "Runledger StuckJobs", "Maximum of 900 s > 0, 2 of 2"),
        ("ForgottenApprovals", "Runledger ForgottenApprovals", "Maximum of 3600 s > 0, 1 of 1"),
        ("QueueTime", "Runledger QueueTime", "p90 of 3600 s > 1800000, 1 of 1"),
        ("LookupsPostponed", "Runledger LookupsPostponed", "Sum of 900 s > 0, 2 of 2"),
        ("OrphansOverdue", "Runledger OrphanedRunnersOverdue", "Maximum of 300 s > 0, 1 of 1"),
        ("Throttled-workflow_jobs-UpdateItem", "AWS/DynamoDB ThrottledRequests", "Sum of 300 s > 0, 2 of 3"),
    ],
)
def test_an_alarm_has_this_metric_and_condition(templates: Templates, name: str, metric: str, rings: str) -> None:
    alarm = alarms(templates)[name]
    assert f"{alarm['Namespace']} {alarm['MetricName']}" == metric
    assert condition(alarm) == rings
    assert alarm["TreatMissingData"] == "notBreaching"


def condition(alarm: Alarm) -> str:
    sign = {"GreaterThanThreshold": ">", "GreaterThanOrEqualToThreshold": ">=", "LessThanThreshold": "<"}
    periods = alarm["EvaluationPeriods"]
    statistic = alarm.get("Statistic") or alarm["ExtendedStatistic"]
    return (
        f"{statistic} of {alarm['Period']} s {sign[alarm['ComparisonOperator']]} {alarm['Threshold']}, "
        f"{alarm.get('DatapointsToAlarm', periods)} of {periods}"
    )


@pytest.mark.parametrize(
    ("minutes", "rings"),
    [
        (7, "Sum of 300 s < 1, 2 of 2"),
        (60, "Sum of 300 s < 1, 12 of 12"),
        (24 * 60, "Sum of 300 s < 1, 288 of 288"),
        (66 * 60, "Sum of 3600 s < 1, 66 of 66"),
        (7 * 24 * 60, "Sum of 3600 s < 1, 168 of 168"),
    ],
)
def test_no_webhook_for_the_time_in_the_setting_is_an_alarm(minutes: int, rings: str) -> None:
    alarm = alarms(synthesise(no_webhook_alarm_minutes=minutes))["NoWebhook"]
    assert (alarm["MetricName"], alarm["TreatMissingData"], condition(alarm)) == ("Invocations", "breaching", rings)


def test_a_reconciler_that_does_not_run_is_an_alarm(templates: Templates) -> None:
    """Lambda drops a pass that it throttles for five minutes, and counts neither an error nor an invocation."""
    alarm = alarms(templates)["NoPass"]
    assert (alarm["MetricName"], alarm["TreatMissingData"]) == ("Invocations", "breaching")
    assert condition(alarm) == "Sum of 900 s < 1, 2 of 2"
    assert str(dimensions(alarm)["FunctionName"]).startswith("{'Ref': 'Reconciler")


def test_a_setting_of_zero_removes_the_alarm_for_missing_webhooks() -> None:
    assert "NoWebhook" not in alarms(synthesise(no_webhook_alarm_minutes=0))


def test_our_own_metrics_are_looked_for_where_they_are_written(templates: Templates) -> None:
    ours = [alarm for alarm in alarms(templates).values() if alarm["Namespace"] == "Runledger"]
    assert {alarm["MetricName"] for alarm in ours} <= names(section("monitoring.md", "Metrics"))
    for alarm in ours:
        assert (dimensions(alarm)["service"], dimensions(alarm)["stage"]) == (emf.SERVICE, "prod")


def test_two_stages_share_no_metric_alarm_dashboard_topic_or_log_group(templates: Templates) -> None:
    staging = synthesise(stage="staging")

    def named(templates: Templates) -> set[str]:
        made = [
            (kind, name, each)
            for template in templates.values()
            for kind, name in (
                ("AWS::CloudWatch::Alarm", "AlarmName"),
                ("AWS::CloudWatch::Dashboard", "DashboardName"),
                ("AWS::SNS::Topic", "TopicName"),
                ("AWS::Logs::LogGroup", "LogGroupName"),
                ("AWS::Events::EventBus", "Name"),
                ("AWS::Logs::QueryDefinition", "Name"),
            )
            for each in of_type(template, kind).values()
        ]
        own = [alarm for alarm in alarms(templates).values() if alarm["Namespace"] == "Runledger"]
        return {f"{kind} {each[name]}" for kind, name, each in made} | {str(dimensions(alarm)) for alarm in own}

    assert named(templates) & named(staging) == set()


def test_a_dashboard_is_named_after_its_region_because_dashboards_are_global(templates: Templates) -> None:
    (dashboard,) = of_type(templates["observability"], "AWS::CloudWatch::Dashboard").values()
    assert dashboard["DashboardName"] == {"Fn::Join": ["", ["runledger-prod-", {"Ref": "AWS::Region"}]]}


def test_every_alarm_looks_at_one_metric_and_sends_its_description_to_the_topic(templates: Templates) -> None:
    (topic,) = of_type(templates["observability"], "AWS::SNS::Topic").values()
    for alarm in alarms(templates).values():
        assert "Metrics" not in alarm
        (action,) = alarm["AlarmActions"]
        assert action["Fn::Join"][1][-1].endswith(f":{topic['TopicName']}")
        assert alarm["AlarmDescription"].endswith("See docs/monitoring.md, Alarms.")


def test_only_cloudwatch_of_this_account_publishes_and_only_encrypted(templates: Templates) -> None:
    (policy,) = of_type(templates["observability"], "AWS::SNS::TopicPolicy").values()
    by_effect = {statement["Effect"]: statement for statement in policy["PolicyDocument"]["Statement"]}
    assert by_effect["Deny"]["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert by_effect["Allow"]["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert by_effect["Allow"]["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    assert len(policy["PolicyDocument"]["Statement"]) == 2


def test_alarms_are_sent_to_the_address_in_the_settings(templates: Templates) -> None:
    assert of_type(templates["observability"], "AWS::SNS::Subscription") == {}
    subscribed = of_type(synthesise(alarm_email="oncall@example.com")["observability"], "AWS::SNS::Subscription")
    assert [(each["Protocol"], each["Endpoint"]) for each in subscribed.values()] == [("email", "oncall@example.com")]


def test_saved_queries_look_at_the_logs_of_every_function(templates: Templates) -> None:
    queries = of_type(templates["observability"], "AWS::Logs::QueryDefinition").values()
    named = {query["Name"].rpartition("/")[2]: frozenset(query["LogGroupNames"]) for query in queries}
    groups = {name: group["LogGroupName"] for name, group in elsewhere(templates, "AWS::Logs::LogGroup")}
    functions = [function for _, function in elsewhere(templates, "AWS::Lambda::Function")]
    logged = frozenset(groups[function["LoggingConfig"]["LogGroup"]["Ref"]] for function in functions)
    access = named.pop("API responses")
    assert set(named.values()) == {logged}
    assert access == set(groups.values()) - logged
    # API Gateway writes there without adding to a policy of limited size.
    assert all(name.startswith("/aws/vendedlogs/") for name in access)
