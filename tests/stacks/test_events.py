"""Who may speak, and who is listened to."""

from tests.synthesis import Templates, of_type, synthesise

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


def test_only_named_accounts_may_publish(templates: Templates) -> None:
    assert of_type(templates["events"], "AWS::Events::EventBusPolicy") == {}
    events = synthesise(event_publishers=PUBLISHERS)["events"]
    policies = of_type(events, "AWS::Events::EventBusPolicy").values()
    assert sorted(policy["Principal"] for policy in policies) == ["111111111111", "222222222222"]
    assert {policy["Action"] for policy in policies} == {"events:PutEvents"}
