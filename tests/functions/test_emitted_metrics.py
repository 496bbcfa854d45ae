"""Alarms and graphs look at metrics that the functions emit, with exactly the dimensions that they emit."""

import json
from typing import Any

import pytest
from runledger.model.passes import PassKind
from runledger.platform import emf, logs
from runledger.reconciliation import metrics
from runledger.reconciliation.summary import PassReport
from runledger.reconciliation.tally import Tally
from runledger.recording import telemetry

from tests.functions.conftest import World
from tests.support.log_lines import lines, written
from tests.support.runner_events import batch
from tests.support.synthesis import Templates, of_type
from tests.support.webhooks import COMPLETED, QUEUED, http_event, payload

Emitted = set[tuple[str, frozenset[str]]]


@pytest.fixture(autouse=True)
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets the names of function and stage as Lambda's environment does."""
    monkeypatch.setattr(logs, "FUNCTION", "scheduling_events")
    monkeypatch.setattr(emf, "STAGE", "prod")


def emitted(text: str) -> Emitted:
    found = set()
    for line in lines(text):
        for directive in line.get("_aws", {}).get("CloudWatchMetrics", []):
            assert directive["Namespace"] == emf.NAMESPACE
            for names in directive["Dimensions"]:
                assert all(line[name] for name in names)
                found |= {(metric["Name"], frozenset(names)) for metric in directive["Metrics"]}
    return found


def shown(templates: Templates) -> Emitted:
    (dashboard,) = of_type(templates["observability"], "AWS::CloudWatch::Dashboard").values()
    widgets = json.loads(dashboard["DashboardBody"]["Fn::Sub"][0])["widgets"]
    found = set()
    drawn = [line for each in widgets for line in each["properties"].get("metrics", []) if len(line) > 1]
    for namespace, name, *rest in drawn:
        if namespace == emf.NAMESPACE:
            found.add((name, frozenset(each for each in rest[::2] if isinstance(each, str))))
    return found


def alarmed(templates: Templates) -> Emitted:
    alarms: list[dict[str, Any]] = [
        alarm for template in templates.values() for alarm in of_type(template, "AWS::CloudWatch::Alarm").values()
    ]
    return {
        (alarm["MetricName"], frozenset(each["Name"] for each in alarm["Dimensions"]))
        for alarm in alarms
        if alarm["Namespace"] == emf.NAMESPACE
    }


def test_alarms_and_graphs_match_what_is_emitted(
    world: World, capsys: pytest.CaptureFixture[str], templates: Templates
) -> None:
    world.invoke("webhook_intake", http_event(json.dumps(payload(QUEUED)).encode(), guid="one"))
    world.invoke("webhook_intake", http_event(json.dumps(payload(COMPLETED)).encode(), guid="two"))
    world.invoke("scheduling_events", batch("not JSON"))
    telemetry.secret_ignored("current", "it is empty")
    at = "2025-01-15T10:00:00.000Z"
    metrics.finished(
        PassReport(id="1", kind=PassKind.QUICK, started_at=at, finished_at=at, tally=Tally(warn=metrics.failed))
    )
    written = emitted(capsys.readouterr().out)
    assert {name for name, _ in written} >= {"JobsQueued", "QueueTime", "StuckJobs", "MessagesFailed"}
    by_name = dict(written)
    usual = frozenset({"service", "stage"})
    for name, dimensions in alarmed(templates) | shown(templates):
        assert name in emf.UNITS
        assert dimensions == by_name.get(name, usual), name


def test_a_failed_message_is_counted_for_its_function(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.invoke("scheduling_events", batch("not JSON", "nor this"))
    (line,) = [line for line in written(capsys) if "MessagesFailed" in line]
    assert (line["MessagesFailed"], line["function"], line["stage"]) == (2, "scheduling_events", "prod")
