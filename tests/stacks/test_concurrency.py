"""A burst of one kind leaves capacity for webhooks, also in a new account."""

from tests.support.synthesis import Templates, of_type, synthesise
from tests.support.template_functions import functions

NEW_ACCOUNT = 10


def limits(templates: Templates) -> dict[str, int]:
    """The most instances that each queue starts, by the logical id of its function."""
    return {
        mapping["FunctionName"]["Ref"]: mapping["ScalingConfig"]["MaximumConcurrency"]
        for name in ("events", "api")
        for mapping in of_type(templates[name], "AWS::Lambda::EventSourceMapping").values()
    }


def test_every_queue_is_limited(templates: Templates) -> None:
    assert list(limits(templates).values()) == [2] * 6
    assert set(limits(synthesise(queue_max_concurrency="7")).values()) == {7}


def test_a_burst_of_ec2_events_leaves_room_for_webhooks_in_a_new_account(templates: Templates) -> None:
    """Spot warnings, states, and the look-ups that may follow; beside them a pass of the reconciler runs."""
    burst = ("SpotInterruption", "InstanceState", "RunnerLookup")
    taken = sum(most for name, most in limits(templates).items() if name.startswith(burst))
    assert NEW_ACCOUNT - taken - 1 >= 3


def test_intake_can_have_reserved_concurrency(templates: Templates) -> None:
    _, intake = functions(templates)["WebhookIntake"]
    assert "ReservedConcurrentExecutions" not in intake
    reserved = functions(synthesise(intake_reserved_concurrency="50"))
    assert {
        name: each["ReservedConcurrentExecutions"]
        for name, (_, each) in reserved.items()
        if "ReservedConcurrentExecutions" in each
    } == {"WebhookIntake": 50}


def test_a_failed_pass_is_not_repeated_by_lambda(templates: Templates) -> None:
    """EventBridge and the API invoke the reconciler asynchronously, and Lambda would try twice more by default."""
    (config,) = of_type(templates["events"], "AWS::Lambda::EventInvokeConfig").values()
    assert config["FunctionName"]["Ref"].startswith("Reconciler")
    assert config["MaximumRetryAttempts"] == 0
    assert config["MaximumEventAgeInSeconds"] == 300
