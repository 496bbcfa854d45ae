"""Nothing that is deployed can fail in silence: every queue, function and table has its alarms and its graphs."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from runledger import emf
from runledger.reconciliation import metrics

from stacks import own_metrics
from tests.documents import names, section
from tests.synthesis import Template, Templates, of_type, synthesise

Alarm = dict[str, Any]


def alarms(templates: Templates) -> dict[str, Alarm]:
    """By name, without the prefix of the stage."""
    made = of_type(templates["observability"], "AWS::CloudWatch::Alarm").values()
    return {alarm["AlarmName"].removeprefix("runledger-prod-"): alarm for alarm in made}


def resource(templates: Templates, reference: Any) -> str | None:
    """The resource of another stack that a weak reference leads to."""
    if not isinstance(reference, dict):
        return None
    output = reference["Fn::GetStackOutput"]
    template = templates[output["StackName"].rpartition("-")[2]]
    value = template["Outputs"][output["OutputName"]]["Value"]
    return str(value.get("Ref") or value["Fn::GetAtt"][0])


def watched(templates: Templates, kind: str) -> set[str | None]:
    """The resources that the alarms of one kind look at."""
    return {
        resource(templates, dimension["Value"])
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


def test_every_function_without_a_queue_has_an_alarm(templates: Templates) -> None:
    functions = {name for name, _ in elsewhere(templates, "AWS::Lambda::Function")}
    mappings = [mapping for _, mapping in elsewhere(templates, "AWS::Lambda::EventSourceMapping")]
    assert watched(templates, "FunctionErrors") == functions - {mapping["FunctionName"]["Ref"] for mapping in mappings}


def test_every_table_has_an_alarm(templates: Templates) -> None:
    assert watched(templates, "Throttled") == of_type(templates["data"], "AWS::DynamoDB::Table").keys()


@pytest.mark.parametrize(
    ("name", "metric", "rings"),
    [
        ("ServerErrors", "AWS/ApiGateway 5xx", "Sum of 300 s > 0, 1 of 1"),
        ("QueueAge-WebhookRetries", "AWS/SQS ApproximateAgeOfOldestMessage", "Maximum of 300 s > 900, 1 of 1"),
        ("DeadLetters-WebhookRetries", "AWS/SQS ApproximateNumberOfMessagesVisible", "Maximum of 300 s > 0, 1 of 1"),
        ("FunctionErrors-reconciler", "AWS/Lambda Errors", "Sum of 900 s >= 3, 1 of 1"),
        ("ReconciliationErrors", "Runledger ReconciliationErrors", "Sum of 3600 s > 5, 1 of 1"),
        ("OrphanRate", "Runledger OrphanedRunnerRate", "Average of 3600 s > 0.1, 1 of 1"),
        ("OrphansOverdue", "Runledger OrphanedRunnersOverdue", "Maximum of 300 s > 0, 1 of 1"),
        ("Throttled-workflow_jobs-UpdateItem", "AWS/DynamoDB ThrottledRequests", "Sum of 300 s > 0, 2 of 3"),
    ],
)
def test_an_alarm_rings_when_it_should(templates: Templates, name: str, metric: str, rings: str) -> None:
    alarm = alarms(templates)[name]
    assert f"{alarm['Namespace']} {alarm['MetricName']}" == metric
    assert condition(alarm) == rings
    assert alarm["TreatMissingData"] == "notBreaching"


def condition(alarm: Alarm) -> str:
    sign = {"GreaterThanThreshold": ">", "GreaterThanOrEqualToThreshold": ">=", "LessThanThreshold": "<"}
    periods = alarm["EvaluationPeriods"]
    return (
        f"{alarm['Statistic']} of {alarm['Period']} s {sign[alarm['ComparisonOperator']]} {alarm['Threshold']}, "
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
def test_silence_is_an_alarm_after_the_time_that_is_set(minutes: int, rings: str) -> None:
    alarm = alarms(synthesise(no_webhook_alarm_minutes=minutes))["NoWebhook"]
    assert (alarm["MetricName"], alarm["TreatMissingData"], condition(alarm)) == ("Invocations", "breaching", rings)


def test_silence_can_be_allowed() -> None:
    assert "NoWebhook" not in alarms(synthesise(no_webhook_alarm_minutes=0))


def test_our_own_metrics_are_looked_for_where_they_are_written(templates: Templates) -> None:
    ours = [alarm for alarm in alarms(templates).values() if alarm["Namespace"] == "Runledger"]
    assert {alarm["MetricName"] for alarm in ours} <= names(section("operating.md", "Metrics"))
    assert (own_metrics.NAMESPACE, own_metrics.SERVICE) == (emf.NAMESPACE, emf.SERVICE)
    for alarm in ours:
        assert alarm["Dimensions"] == [{"Name": "service", "Value": emf.SERVICE}]


def test_every_alarm_looks_at_one_metric_and_tells_the_topic_what_to_do(templates: Templates) -> None:
    (topic,) = of_type(templates["observability"], "AWS::SNS::Topic")
    for alarm in alarms(templates).values():
        assert "Metrics" not in alarm
        assert alarm["AlarmActions"] == [{"Ref": topic}]
        assert alarm["AlarmDescription"].endswith("See docs/operating.md, Alarms.")


def test_only_cloudwatch_of_this_account_publishes_and_only_encrypted(templates: Templates) -> None:
    (policy,) = of_type(templates["observability"], "AWS::SNS::TopicPolicy").values()
    by_effect = {statement["Effect"]: statement for statement in policy["PolicyDocument"]["Statement"]}
    assert by_effect["Deny"]["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert by_effect["Allow"]["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert by_effect["Allow"]["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    assert len(policy["PolicyDocument"]["Statement"]) == 2


def test_whoever_is_set_gets_the_mail(templates: Templates) -> None:
    assert of_type(templates["observability"], "AWS::SNS::Subscription") == {}
    told = of_type(synthesise(alarm_email="oncall@example.com")["observability"], "AWS::SNS::Subscription")
    assert [(each["Protocol"], each["Endpoint"]) for each in told.values()] == [("email", "oncall@example.com")]


def test_what_is_watched_can_be_removed(templates: Templates) -> None:
    assert "Fn::ImportValue" not in json.dumps(templates["observability"])


def dashboard(template: Template) -> dict[str, Any]:
    """Its body, with a word in the place of each reference."""
    (body,) = of_type(template, "AWS::CloudWatch::Dashboard").values()
    parts = body["DashboardBody"]["Fn::Join"][1]
    read: dict[str, Any] = json.loads("".join(part if isinstance(part, str) else "reference" for part in parts))
    return read


def lines(templates: Templates) -> list[list[Any]]:
    """What the graphs draw: namespace, metric, its dimensions, and how it is drawn."""
    widgets = dashboard(templates["observability"])["widgets"]
    return [line for widget in widgets for line in widget["properties"].get("metrics", [])]


def shown(templates: Templates) -> set[tuple[str, str]]:
    return {(namespace, metric) for namespace, metric, *_ in lines(templates)}


def test_the_dashboard_shows_every_metric_of_ours(templates: Templates) -> None:
    ours = {name for namespace, name in shown(templates) if namespace == "Runledger"}
    assert ours == names(section("operating.md", "Metrics"))


def test_the_dashboard_shows_stuck_jobs_by_kind(templates: Templates) -> None:
    stuck = [line for line in lines(templates) if line[1] == "StuckJobs"]
    assert {line[line.index("kind") + 1] for line in stuck} == metrics.STUCK.keys()


def test_the_dashboard_shows_what_aws_measures(templates: Templates) -> None:
    assert {f"{namespace} {name}" for namespace, name in shown(templates) if namespace != "Runledger"} == {
        *("AWS/ApiGateway Count", "AWS/ApiGateway Latency", "AWS/ApiGateway 4xx", "AWS/ApiGateway 5xx"),
        *("AWS/Lambda Duration", "AWS/Lambda Errors", "AWS/Lambda Throttles"),
        *("AWS/SQS ApproximateNumberOfMessagesVisible", "AWS/SQS ApproximateAgeOfOldestMessage"),
        *("AWS/DynamoDB ConsumedReadCapacityUnits", "AWS/DynamoDB ConsumedWriteCapacityUnits"),
        "AWS/DynamoDB ThrottledRequests",
    }


def test_the_dashboard_has_all_alarms_on_top_and_no_holes(templates: Templates) -> None:
    top, *graphs = dashboard(templates["observability"])["widgets"]
    assert len(top["properties"]["alarms"]) == len(alarms(templates))
    widths: dict[int, int] = {}
    for widget in graphs:
        widths[widget["y"]] = widths.get(widget["y"], 0) + widget["width"]
    assert set(widths.values()) == {24}


def test_saved_queries_look_at_the_logs_of_every_function(templates: Templates) -> None:
    queries = of_type(templates["observability"], "AWS::Logs::QueryDefinition").values()
    groups = {
        frozenset(resource(templates, group) for group in query["LogGroupNames"])
        for query in queries
        if query["Name"] != "runledger-prod/answers of the API"
    }
    functions = [function for _, function in elsewhere(templates, "AWS::Lambda::Function")]
    assert groups == {frozenset(function["LoggingConfig"]["LogGroup"]["Ref"] for function in functions)}
