"""The environment of a function has 4 KB, and what is too large is found before anything is deployed."""

from typing import Any

import pytest
from runledger_api.wiring import queue_urls

from stacks.constructs.environment import LARGEST_ENVIRONMENT
from stacks.settings_reader import BadSetting
from tests.support.synthesis import Templates, synthesise
from tests.support.template_functions import functions

ACCOUNT, REGION = "123456789012", "ap-southeast-2"
QUEUE_URL = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/"
LONGEST_STAGE = "p" * 16
TARGETS = {
    "notification_sns_topics": ",".join(f"team{each}=arn:aws:sns:{REGION}:{ACCOUNT}:team{each}" for each in range(8)),
    "notification_event_buses": f"team=arn:aws:events:{REGION}:{ACCOUNT}:event-bus/team",
}
TOO_MANY = ",".join(f"{'t' * 49}{each}=arn:aws:sns:{REGION}:{ACCOUNT}:{'t' * 250}" for each in range(10))


@pytest.fixture(scope="module")
def largest() -> Templates:
    return synthesise(
        feeds=True,
        notifications=True,
        releases=True,
        rebuild_dependents="enforce",
        stage=LONGEST_STAGE,
        jwt_issuer="https://issuer.example.com/realms/engineering",
        jwt_audience="https://runledger.example.com",
        feed_types="job.failed,job.stuck,approval.*,runner.*",
        **TARGETS,
    )


def deployed_size(stacks: Templates, stack: str, value: Any) -> int:
    """The size after CloudFormation resolves it: names that it generates end with twelve random characters."""
    if isinstance(value, str):
        return len(value)
    ((kind, about),) = value.items()
    match kind:
        case "Fn::Join":
            separator, parts = about
            return sum(deployed_size(stacks, stack, part) for part in parts) + len(separator) * (len(parts) - 1)
        case "Fn::GetStackOutput":
            other = about["StackName"].split("-", 2)[2]
            return deployed_size(stacks, other, stacks[other]["Outputs"][about["OutputName"]]["Value"])
        case "Fn::ImportValue":
            outputs = ((name, each) for name, template in stacks.items() for each in template["Outputs"].values())
            ((other, found),) = [(n, each) for n, each in outputs if each.get("Export", {}).get("Name") == about]
            return deployed_size(stacks, other, found["Value"])
    name, attribute = (about, "Ref") if kind == "Ref" else about
    if name not in stacks[stack]["Resources"]:
        return len({"AWS::AccountId": ACCOUNT, "AWS::Region": REGION}[name])
    generated = min(len(f"runledger-{LONGEST_STAGE}-{stack}-{name}-") + 12, 80)
    is_url = stacks[stack]["Resources"][name]["Type"] == "AWS::SQS::Queue" and attribute == "Ref"
    is_arn = attribute in ("Arn", "Id")
    return generated + (len(QUEUE_URL) if is_url else 0) + (len("arn:aws:secretsmanager:::secret:") + 26) * is_arn


def test_every_environment_fits_with_long_names_and_all_settings(largest: Templates) -> None:
    stacks = {id(template): name for name, template in largest.items()}
    for name, (template, function) in functions(largest).items():
        variables = function["Environment"]["Variables"]
        size = sum(len(each) + deployed_size(largest, stacks[id(template)], value) for each, value in variables.items())
        assert size < LARGEST_ENVIRONMENT, name


def test_settings_that_are_too_long_together_are_rejected() -> None:
    with pytest.raises(BadSetting, match="too long for the environment of"):
        synthesise(feeds=True, notifications=True, notification_sns_topics=TOO_MANY)


def test_the_urls_of_queues_are_complete() -> None:
    assert queue_urls('{"a": "https://sqs.x/1/first", "b": "second", "c": "https://sqs.x/1/third"}') == {
        "a": "https://sqs.x/1/first",
        "b": "https://sqs.x/1/second",
        "c": "https://sqs.x/1/third",
    }
    assert queue_urls("{}") == {}
