"""The CloudWatch dashboard shows every metric, alarm and service level."""

import json
import re
from typing import Any

from runledger.model.stuck import OPEN

from tests.stacks.test_observability import alarms
from tests.support.documents import names, section
from tests.support.synthesis import Template, Templates, of_type, synthesise

Alarm = dict[str, Any]


def dashboard(template: Template) -> dict[str, Any]:
    """Its body, with variables in the place of names of other stacks."""
    (body,) = of_type(template, "AWS::CloudWatch::Dashboard").values()
    text, variables = body["DashboardBody"]["Fn::Sub"]
    assert {each for each in re.findall(r"\$\{([^}]+)\}", text) if "::" not in each} == variables.keys()
    read: dict[str, Any] = json.loads(text)
    return read


def lines(templates: Templates) -> list[list[Any]]:
    """The metrics that graphs draw or compute with: namespace, metric, its dimensions, and how it is drawn."""
    widgets = dashboard(templates["observability"])["widgets"]
    drawn = [line for widget in widgets for line in widget["properties"].get("metrics", [])]
    return [line for line in drawn if "expression" not in line[0]]


def shown(templates: Templates) -> set[tuple[str, str]]:
    return {(namespace, metric) for namespace, metric, *_ in lines(templates)}


def test_the_dashboard_shows_every_metric_of_ours() -> None:
    # test_storage.py, test_feed.py and test_notifications.py have what they add
    templates = synthesise(webhook_bucket="acme-runners", feeds=True, notifications=True)
    ours = {name for namespace, name in shown(templates) if namespace == "Runledger"}
    assert ours == names(section("monitoring.md", "Metrics"))


def widget(templates: Templates, title: str) -> dict[str, Any]:
    (found,) = [
        each["properties"]
        for each in dashboard(templates["observability"])["widgets"]
        if each["properties"].get("title") == title
    ]
    return dict(found)


def test_the_dashboard_has_a_graph_of_each_service_level(templates: Templates) -> None:
    rate = widget(templates, "Orphan rate (%)")
    latency = widget(templates, "Cleanup latency (s)")
    passes = widget(templates, "Passes and success rate (%)")
    assert [line[1] for line in rate["metrics"]] == ["OrphanedRunnerRate"]
    assert {line[1] for line in latency["metrics"]} == {"CleanupLatency"}
    (expression,) = [line[0]["expression"] for line in passes["metrics"] if "expression" in line[0]]
    assert expression == "100 * succeeded / (succeeded + failed)"
    ids = {line[1]: line[-1]["id"] for line in passes["metrics"] if "id" in line[-1]}
    assert ids == {"PassesSucceeded": "succeeded", "PassesFailed": "failed"}


def test_the_dashboard_lists_the_repositories_with_most_orphans(templates: Templates) -> None:
    (saved,) = [
        each["QueryString"]
        for each in of_type(templates["observability"], "AWS::Logs::QueryDefinition").values()
        if each["Name"].endswith("/orphans by repository")
    ]
    shown = widget(templates, "Orphans by repository")
    sources, query = shown["query"].split("\n", 1)[0], shown["query"]
    assert query.endswith(saved)
    assert "reconciler" in sources
    assert "instance_state" in sources


def test_the_dashboard_shows_stuck_jobs_by_kind(templates: Templates) -> None:
    stuck = [line for line in lines(templates) if line[1] == "StuckJobs"]
    assert {line[line.index("kind") + 1] for line in stuck} == set(OPEN)


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
