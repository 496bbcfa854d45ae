"""Two deployments that stop machines are compared in every region in which either of them may do it."""

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from preflight.results import Ok, Problem, Skipped
from preflight.tags import are_disjoint, runner_tags
from stacks.settings import Settings


@pytest.mark.parametrize(
    ("one", "other", "disjoint"),
    [
        ({"stage": "prod"}, {"stage": "staging"}, True),
        ({"stage": "prod"}, {"stage": "prod"}, False),
        ({"stage": "prod"}, {"stage": "*"}, False),
        ({"stage": "prod-eu"}, {"stage": "prod-*"}, False),
        ({"stage": "staging"}, {"stage": "prod-*"}, True),
        ({"stage": "prod-?"}, {"stage": "prod-1"}, False),
        # Not a wildcard, for IAM.
        ({"stage": "prod-[12]"}, {"stage": "prod-1"}, True),
        ({"stage": "prod-*"}, {"stage": "staging-*"}, False),
        ({"stage": "*-eu"}, {"stage": "prod-*"}, False),
        ({"stage": "prod"}, {"pool": "linux"}, False),
        ({"stage": "prod", "pool": "linux"}, {"stage": "staging", "pool": "linux"}, True),
        ({"stage": "prod"}, {}, False),
    ],
)
def test_tags_are_disjoint_only_if_no_machine_can_have_both(
    one: dict[str, str], other: dict[str, str], disjoint: bool
) -> None:
    assert are_disjoint(one, other) is disjoint
    assert are_disjoint(other, one) is disjoint


class Region:
    """CloudFormation of one region with these stacks, by name, with their policies."""

    def __init__(self, name: str, stacks: Mapping[str, str]) -> None:
        self._found = [
            {
                "StackId": f"arn:aws:cloudformation:{name}:000000000000:stack/{stack}/1",
                "StackName": stack,
                "StackStatus": "CREATE_COMPLETE",
                "Tags": [{"Key": "application", "Value": "runledger"}],
                "Outputs": [{"OutputKey": "OrphanPolicy", "OutputValue": policy}],
            }
            for stack, policy in stacks.items()
        ]

    def client(self, _service: str) -> Any:
        return self

    def describe_stacks(self, *, StackName: str) -> Any:  # noqa: N803
        found = [each for each in self._found if each["StackName"] == StackName]
        if not found:
            message = f"Stack with id {StackName} does not exist"
            raise ClientError({"Error": {"Code": "ValidationError", "Message": message}}, "DescribeStacks")
        return {"Stacks": found}

    def get_paginator(self, _operation: str) -> Any:
        return SimpleNamespace(paginate=lambda: [{"Stacks": self._found}])


def policy(tags: str, orphans: str = "enforce") -> str:
    return json.dumps({"orphans": orphans, "runner_tags": dict([tags.split("=")]), "runner_regions": []})


def compare(regions: Mapping[str, Mapping[str, str]], **given: str) -> object:
    """Compare with the stage `prod` in us-east-1."""
    context = {"orphans": "enforce", "runner_tags": "team=ci", **given}
    session_in = {name: Region(name, stacks) for name, stacks in regions.items()}.__getitem__
    return runner_tags(session_in, "us-east-1", Settings.read(context.get))


def test_a_stage_that_stops_nothing_is_not_compared() -> None:
    assert isinstance(compare({}, orphans="report"), Skipped)


def test_own_stacks_are_no_other_deployment() -> None:
    regions = {
        "us-east-1": {"runledger-prod-events": policy("team=ci")},
        "eu-west-1": {"runledger-prod-eu-west-1-to-us-east-1": policy("team=ci")},
    }
    assert isinstance(compare(regions, runner_regions="eu-west-1"), Ok)


def test_another_stage_of_the_region_with_overlapping_tags_is_a_problem() -> None:
    other = {"runledger-staging-events": policy("team=c*")}
    assert isinstance(compare({"us-east-1": other}), Problem)
    assert isinstance(compare({"us-east-1": {"runledger-staging-events": policy("team=web")}}), Ok)
    assert isinstance(compare({"us-east-1": {"runledger-staging-events": policy("team=ci", "report")}}), Ok)


@pytest.mark.parametrize("other", ["runledger-prod-events", "runledger-prod-eu-west-1-to-ap-southeast-2"])
def test_the_same_stage_of_another_region_that_shares_a_region_with_runners_is_a_problem(other: str) -> None:
    """Either that region is its own, or it forwards events from there too."""
    found = compare({"us-east-1": {}, "eu-west-1": {other: policy("team=ci")}}, runner_regions="eu-west-1")
    assert isinstance(found, Problem)
    assert found.detail.startswith(f"{other} in eu-west-1 terminates machines too")
