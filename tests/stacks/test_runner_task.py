"""The task definition of a runner that stops gracefully."""

import re
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_logs as logs

from stacks.constructs.runner_task import DIRECTORY, ENTRYPOINT, RunnerTaskDefinition

DOCKERFILE = Path(__file__).parents[2] / "runner" / "Dockerfile"


def synthesised(**options: Any) -> dict[str, Any]:
    stack = cdk.Stack(cdk.App(), "Launcher")
    image = ecs.ContainerImage.from_registry("my-runner")
    RunnerTaskDefinition(stack, "Runner", image=image, log_group=logs.LogGroup(stack, "Logs"), **options)
    made = assertions.Template.from_stack(stack).find_resources("AWS::ECS::TaskDefinition")
    (definition,) = made.values()
    properties: dict[str, Any] = definition["Properties"]
    return properties


def test_a_runner_has_the_longest_time_to_stop_that_fargate_allows() -> None:
    definition = synthesised()
    (container,) = definition["ContainerDefinitions"]
    assert definition["RequiresCompatibilities"] == ["FARGATE"]
    assert container["StopTimeout"] == 120


def test_the_entrypoint_ends_before_ecs_kills_it() -> None:
    (container,) = synthesised(stop_timeout=cdk.Duration.seconds(30))["ContainerDefinitions"]
    (variable,) = container["Environment"]
    assert (container["StopTimeout"], variable) == (30, {"Name": "RUNNER_STOP_TIMEOUT_SECONDS", "Value": "20"})


def test_the_container_starts_the_entrypoint_of_the_image() -> None:
    (container,) = synthesised()["ContainerDefinitions"]
    dockerfile = DOCKERFILE.read_text()
    assert (
        container["EntryPoint"] == list(ENTRYPOINT) == re.findall(r'"([^"]+)"', dockerfile.rpartition("ENTRYPOINT")[2])
    )
    assert f"WORKDIR {container['WorkingDirectory']}\n" in dockerfile
    assert container["WorkingDirectory"] == DIRECTORY
    assert container["LogConfiguration"]["LogDriver"] == "awslogs"


@pytest.mark.parametrize("seconds", [10, 121])
def test_a_time_to_stop_that_ecs_or_the_entrypoint_cannot_keep_is_rejected(seconds: int) -> None:
    with pytest.raises(ValueError, match=f"stop_timeout is {seconds} s; it must be 11 to 120 s on Fargate"):
        synthesised(stop_timeout=cdk.Duration.seconds(seconds))
