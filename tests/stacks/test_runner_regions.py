"""Runners in other regions of the account: their events are forwarded, and they may be stopped where they are."""

import json
from typing import Any

import aws_cdk as cdk
import pytest

from app import build
from stacks.settings_reader import BadSetting
from tests.support.synthesis import FLAGS, Template, Templates, of_type, synthesise
from tests.support.template_functions import as_list, functions, statements

FORWARDED = {"Warnings": "SpotInterruptions", "States": "InstanceStates", "Tasks": "TaskStates"}
FORWARDERS = ("eu-west-1-to-us-east-1", "ap-southeast-2-to-us-east-1")
TAGGED = {"orphans": "enforce", "runner_tags": "team=ci"}


@pytest.fixture(scope="module")
def spread() -> Templates:
    return synthesise(runner_regions="us-east-1, eu-west-1,ap-southeast-2", **TAGGED)


def forwarding_rules(template: Template) -> dict[str, dict[str, Any]]:
    """The rules by the beginning of their logical ids."""
    rules = of_type(template, "AWS::Events::Rule")
    return {name: rule for key, rule in rules.items() for name in FORWARDED if key.startswith(f"Forward{name}")}


def test_by_default_there_is_no_other_region(templates: Templates) -> None:
    assert templates.keys() == {"data", "events", "api", "observability"}
    assert not any("Forwarded" in name for name in of_type(templates["events"], "AWS::Events::Rule"))


def test_each_other_region_forwards_events_of_machines_to_the_bus_of_the_deployment(spread: Templates) -> None:
    assert spread.keys() == {"data", "events", "api", "observability", *FORWARDERS}
    for region in FORWARDERS:
        rules = forwarding_rules(spread[region])
        assert rules.keys() == FORWARDED.keys()
        for name, rule in rules.items():
            (near,) = [
                each
                for key, each in of_type(spread["events"], "AWS::Events::Rule").items()
                if key.startswith(f"From{FORWARDED[name]}")
            ]
            assert rule["EventPattern"] == near["EventPattern"]
            assert "EventBusName" not in rule  # EC2 and ECS publish on the default bus of their region
            assert "events:us-east-1:" in str(rule["Targets"])
            assert "event-bus/runledger-prod" in str(rule["Targets"])
        (policy,) = of_type(spread[region], "AWS::IAM::Policy").values()
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert statement["Action"] == "events:PutEvents"
        assert "event-bus/runledger-prod" in str(statement["Resource"])


def test_an_event_that_cannot_be_forwarded_is_kept_in_its_region(spread: Templates) -> None:
    """EventBridge uses no queue of another region, and only one whose policy names the rule."""
    for region in FORWARDERS:
        ((name, queue),) = of_type(spread[region], "AWS::SQS::Queue").items()
        assert (queue["MessageRetentionPeriod"], queue["SqsManagedSseEnabled"]) == (14 * 86_400, True)
        rules = of_type(spread[region], "AWS::Events::Rule")
        assert [rule["Targets"][0]["DeadLetterConfig"]["Arn"]["Fn::GetAtt"] for rule in rules.values()] == [
            [name, "Arn"]
        ] * len(FORWARDED)
        (policy,) = of_type(spread[region], "AWS::SQS::QueuePolicy").values()
        senders = [each for each in policy["PolicyDocument"]["Statement"] if each["Action"] == "sqs:SendMessage"]
        allowed = {each["Condition"]["ArnEquals"]["aws:SourceArn"]["Fn::GetAtt"][0] for each in senders}
        assert allowed == rules.keys()


def test_the_dead_letters_of_a_forwarder_have_an_alarm_with_a_topic_in_their_region() -> None:
    """CloudWatch rejects an alarm that notifies a topic of another region."""
    mailed = synthesise(runner_regions="eu-west-1", alarm_email="oncall@example.com")
    template = mailed["eu-west-1-to-us-east-1"]
    (alarm,) = of_type(template, "AWS::CloudWatch::Alarm").values()
    (queue,) = of_type(template, "AWS::SQS::Queue")
    assert (alarm["MetricName"], alarm["Threshold"]) == ("ApproximateNumberOfMessagesVisible", 0)
    assert alarm["Dimensions"] == [{"Name": "QueueName", "Value": {"Fn::GetAtt": [queue, "QueueName"]}}]
    (topic,) = of_type(template, "AWS::SNS::Topic").values()
    (action,) = alarm["AlarmActions"]
    assert "".join(map(str, action["Fn::Join"][1])).endswith(f":{topic['TopicName']}")
    assert "sns:eu-west-1:" in str(action)
    (subscribed,) = of_type(template, "AWS::SNS::Subscription").values()
    assert subscribed["Endpoint"] == "oncall@example.com"
    assert "AlarmTopicArn" in template["Outputs"]


def test_nothing_of_a_forwarder_stays_when_its_stack_is_deleted(spread: Templates) -> None:
    for region in FORWARDERS:
        policies = {each.get("DeletionPolicy", "Delete") for each in spread[region]["Resources"].values()}
        assert policies == {"Delete"}


def test_forwarded_events_are_routed_from_the_own_bus_to_the_same_queues(spread: Templates) -> None:
    rules = of_type(spread["events"], "AWS::Events::Rule")
    for name in ("SpotInterruptions", "InstanceStates", "TaskStates"):
        (near,) = [rule for key, rule in rules.items() if key.startswith(f"From{name}")]
        (far,) = [rule for key, rule in rules.items() if key.startswith(f"Forwarded{name}")]
        assert "EventBusName" in far
        assert far["Targets"][0]["Arn"] == near["Targets"][0]["Arn"]
        assert far["EventPattern"] == near["EventPattern"]  # with the source, which no publisher can forge


def test_functions_that_check_machines_have_their_account_and_regions(spread: Templates) -> None:
    for name in ("SpotInterruption", "InstanceState", "RunnerLookup", "SchedulingEvents", "Reconciler"):
        _, function = functions(spread)[name]
        variables = function["Environment"]["Variables"]
        assert variables["RUNNER_REGIONS"] == "us-east-1,eu-west-1,ap-southeast-2"
        assert variables["OWN_ACCOUNT"] == {"Ref": "AWS::AccountId"}


def test_the_reconciler_may_stop_machines_in_the_regions_of_runners_only(spread: Templates) -> None:
    template, function = functions(spread)["Reconciler"]
    (stops,) = [
        statement
        for statement in statements(template, function["Role"]["Fn::GetAtt"][0])
        if "ec2:TerminateInstances" in as_list(statement["Action"])
    ]
    resources = [str(each) for each in stops["Resource"]]
    for region in ("eu-west-1", "ap-southeast-2"):
        assert sum(region in each for each in resources) == 2
    assert all("AWS::AccountId" in each for each in resources)
    assert all("instance/*" in each or "task/default/*" in each for each in resources)


def test_without_a_known_main_region_nothing_is_forwarded_to_nowhere() -> None:
    app = cdk.App(context={**FLAGS, "aws:cdk:bundling-stacks": [], "runner_regions": "eu-west-1"})
    with pytest.raises(BadSetting, match="set AWS_REGION"):
        build(app)


def spread_from(main_region: str) -> cdk.cx_api.CloudAssembly:
    context = {**FLAGS, "aws:cdk:bundling-stacks": [], "runner_regions": "us-east-1"}
    return build(cdk.App(context=context), main_region=main_region).synth()


def test_two_deployments_of_a_stage_that_share_a_region_have_different_forwarders() -> None:
    """The account and the shared region are the same: only names keep the stacks, alarms and topics apart."""
    forwarders = [
        stack
        for main_region in ("eu-west-1", "ap-southeast-2")
        for stack in spread_from(main_region).stacks
        if stack.environment.region == "us-east-1"
    ]
    assert [each.stack_name for each in forwarders] == [
        "runledger-prod-us-east-1-to-eu-west-1",
        "runledger-prod-us-east-1-to-ap-southeast-2",
    ]
    for kind, name in (("AWS::CloudWatch::Alarm", "AlarmName"), ("AWS::SNS::Topic", "TopicName")):
        named = [each[name] for stack in forwarders for each in of_type(stack.template, kind).values()]
        assert len(set(named)) == len(forwarders)


def test_forwarders_are_deployed_after_the_bus_that_they_send_to() -> None:
    (forwarder,) = [stack for stack in spread_from("eu-west-1").stacks if "-to-" in stack.stack_name]
    assert "runledger-prod-events" in {artifact.id for artifact in forwarder.dependencies}


def test_every_region_publishes_which_machines_are_stopped_there(spread: Templates) -> None:
    for stack in ("events", *FORWARDERS):
        assert json.loads(spread[stack]["Outputs"]["OrphanPolicy"]["Value"]) == {
            "orphans": "enforce",
            "runner_tags": {"team": "ci"},
            "runner_regions": ["us-east-1", "eu-west-1", "ap-southeast-2"],
        }
