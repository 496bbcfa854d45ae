"""Which events are routed to which queue, and which accounts may publish."""

import json

import pytest

from stacks.events import task_pattern
from stacks.settings import Settings
from stacks.settings_reader import LARGEST_LIST_OF_CLUSTERS
from tests.support.synthesis import Templates, of_type, synthesise

PUBLISHERS = [
    {"account": account, "source": source, "installations": [41]}
    for account in ("111111111111", "222222222222")
    for source in ("a.launcher", "another.launcher")
]


def test_launchers_and_aws_are_routed_to_queues(templates: Templates) -> None:
    rules = of_type(templates["events"], "AWS::Events::Rule").values()
    routed = {kind: rule for rule in rules for kind in rule.get("EventPattern", {}).get("detail-type", [])}
    assert set(routed) == {
        *("runner_scheduled", "runner_rescheduled", "runner_attached", "runner_terminated"),
        *("EC2 Spot Instance Interruption Warning", "EC2 Instance Rebalance Recommendation"),
        *("EC2 Instance State-change Notification", "ECS Task State Change"),
    }
    for kind, rule in routed.items():
        assert ("EventBusName" in rule) is kind.startswith("runner_")
        assert "source" in rule["EventPattern"] or kind.startswith("runner_")
        assert len(rule["Targets"]) == 1


def test_only_states_that_matter_are_routed(templates: Templates) -> None:
    """Every machine of the account is announced, runner or not, and each event that is let through costs money."""
    rules = of_type(templates["events"], "AWS::Events::Rule").values()
    details = {
        rule["EventPattern"]["detail-type"][0]: rule["EventPattern"].get("detail")
        for rule in rules
        if "EventPattern" in rule
    }
    assert details["EC2 Instance State-change Notification"] == {
        "state": ["running", "shutting-down", "stopped", "stopping", "terminated"]
    }
    assert details["ECS Task State Change"] == {
        "$or": [
            {"lastStatus": ["STOPPED"]},
            {"lastStatus": ["RUNNING"], "desiredStatus": ["RUNNING"]},
            {"stopCode": ["SpotInterruption"]},
        ]
    }


def test_tasks_of_other_clusters_can_be_left_out() -> None:
    named = [{"suffix": ":cluster/ci"}, {"suffix": ":cluster/gpu"}]
    assert task_pattern(("ci", "gpu"))["clusterArn"] == named
    templates = synthesise(ecs_event_clusters="ci, gpu", runner_regions="eu-west-1")
    patterns = [
        rule["EventPattern"]
        for stack in ("events", "eu-west-1-to-us-east-1")
        for rule in of_type(templates[stack], "AWS::Events::Rule").values()
        if rule.get("EventPattern", {}).get("source") == ["aws.ecs"]
    ]
    assert [pattern["detail"]["clusterArn"] for pattern in patterns] == [named] * 3


def test_the_longest_list_of_clusters_fits_into_an_event_pattern() -> None:
    """EventBridge takes 2,048 characters, without the spaces."""
    entry = len('{"suffix":":cluster/"},')
    longest = LARGEST_LIST_OF_CLUSTERS // (entry + 1)  # names of one letter give the most entries
    names = ["a"] * longest
    assert Settings.read({"ecs_event_clusters": ",".join(names)}.get).ecs_event_clusters == tuple(names)
    pattern = {"source": ["aws.ecs"], "detail-type": ["ECS Task State Change"], "detail": task_pattern(names)}
    assert len(json.dumps(pattern, separators=(",", ":"))) <= 2048


def test_only_named_accounts_may_publish(templates: Templates) -> None:
    assert of_type(templates["events"], "AWS::Events::EventBusPolicy") == {}
    events = synthesise(event_publishers=PUBLISHERS)["events"]
    policies = of_type(events, "AWS::Events::EventBusPolicy").values()
    assert sorted(policy["Principal"] for policy in policies) == ["111111111111", "222222222222"]
    assert {policy["Action"] for policy in policies} == {"events:PutEvents"}


@pytest.mark.parametrize("regions", ["", "eu-west-1"])
def test_an_event_that_no_queue_accepts_becomes_a_dead_letter(regions: str) -> None:
    template = synthesise(runner_regions=regions)["events"]
    rules = of_type(template, "AWS::Events::Rule").values()
    queues = of_type(template, "AWS::SQS::Queue")
    for rule in rules:
        (target,) = rule["Targets"]
        kept = target["DeadLetterConfig"]["Arn"]["Fn::GetAtt"][0]
        assert kept in queues
        assert kept.startswith("RulesDeadLetters" if "EventPattern" in rule else "ReconciliationScheduleDeadLetters")
