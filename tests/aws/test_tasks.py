"""ECS tasks are looked up by their id in a cluster, or by an ARN that contains the cluster."""

from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from runledger.model.errors import UnavailableError
from runledger.model.inputs import Lifecycle
from runledger.model.instance import Instance, RunnerKind
from runledger.runners.instances import describe_tasks

from tests.aws.stubs import Stubs
from tests.support.beds import KEEP_SESSION

ID, GONE = "0f9de17a6465404e8b1b2356dc13c2f8", "ffffffffffffffffffffffffffffffff"


def arn(task_id: str, cluster: str = "runners") -> str:
    return f"arn:aws:ecs:eu-west-1:123456789012:task/{cluster}/{task_id}"


def task(task_id: str, **more: Any) -> dict[str, Any]:
    return {"taskArn": arn(task_id), "lastStatus": "RUNNING", **more}


def request_for(*task_ids: str, cluster: str = "runners") -> dict[str, Any]:
    return {"cluster": cluster, "tasks": list(task_ids), "include": ["TAGS"]}


def test_a_task_has_every_attribute_of_ecs(stubs: Stubs) -> None:
    described = task(
        ID,
        launchType="FARGATE",
        capacityProviderName="FARGATE_SPOT",
        availabilityZone="eu-west-1b",
        createdAt=datetime(2025, 1, 15, 10, 0, 1, 123000, tzinfo=UTC),
        tags=[{"key": "pool", "value": "small"}],
    )
    stubs.respond("ecs", "describe_tasks", {"tasks": [described]}, request_for(ID))
    assert describe_tasks(stubs.client("ecs"), "runners", [ID]) == {
        ID: Instance(
            runner_id=arn(ID),
            kind=RunnerKind.ECS,
            state="running",
            lifecycle=Lifecycle.SPOT,
            pool_name="small",
            availability_zone="eu-west-1b",
            launched_at="2025-01-15T10:00:01.123Z",
            account_id="123456789012",
            region="eu-west-1",
            tags={"pool": "small"},
        )
    }


@pytest.mark.parametrize(
    ("reported", "lifecycle"),
    [
        ({"launchType": "FARGATE"}, Lifecycle.ON_DEMAND),
        ({"launchType": "FARGATE", "capacityProviderName": "FARGATE"}, Lifecycle.ON_DEMAND),
        ({"capacityProviderName": "FARGATE_SPOT"}, Lifecycle.SPOT),
        ({"launchType": "EC2", "capacityProviderName": "my-group"}, None),
    ],
)
def test_the_lifecycle_of_a_task_is_known_on_fargate_only(
    stubs: Stubs, reported: dict[str, str], lifecycle: Lifecycle | None
) -> None:
    stubs.respond("ecs", "describe_tasks", {"tasks": [task(ID, **reported)]})
    assert describe_tasks(stubs.client("ecs"), "runners", [ID])[ID].lifecycle is lifecycle


def test_a_task_has_the_id_that_was_looked_up_and_is_looked_up_once(stubs: Stubs) -> None:
    stubs.respond("ecs", "describe_tasks", {"tasks": [task(ID)]}, request_for(ID))
    assert describe_tasks(stubs.client("ecs"), "runners", [ID, arn(ID)]).keys() == {ID, arn(ID)}


def test_an_arn_names_its_own_cluster(stubs: Stubs) -> None:
    stubs.respond("ecs", "describe_tasks", {"tasks": []}, request_for(ID, cluster="elsewhere"))
    stubs.respond("ecs", "describe_tasks", {"tasks": []}, request_for(GONE))
    assert describe_tasks(stubs.client("ecs"), "runners", [arn(ID, "elsewhere"), GONE]) == {}


def test_missing_tasks_are_left_out(stubs: Stubs) -> None:
    failures = [{"arn": arn(GONE), "reason": "MISSING"}]
    stubs.respond("ecs", "describe_tasks", {"tasks": [task(ID)], "failures": failures})
    assert describe_tasks(stubs.client("ecs"), "runners", [ID, GONE]).keys() == {ID}


def test_a_hundred_tasks_are_one_call(stubs: Stubs) -> None:
    ids = [f"{number:032x}" for number in range(201)]
    for batch in (ids[:100], ids[100:200], ids[200:]):
        stubs.respond("ecs", "describe_tasks", {"tasks": [task(each) for each in batch]}, request_for(*batch))
    assert list(describe_tasks(stubs.client("ecs"), "runners", ids)) == ids


def test_what_cannot_be_a_task_is_never_looked_up(stubs: Stubs) -> None:
    assert describe_tasks(stubs.client("ecs"), "runners", ["", "x", ID + "0", "i-0d7d7144971263874"]) == {}


def test_a_cluster_that_is_gone_hides_no_other(stubs: Stubs) -> None:
    stubs.refuse("ecs", "describe_tasks", "ClusterNotFoundException")
    stubs.respond("ecs", "describe_tasks", {"tasks": [task(ID)]}, request_for(ID))
    assert describe_tasks(stubs.client("ecs"), "runners", [arn(GONE, "gone"), ID]).keys() == {ID}


def test_any_other_refusal_is_a_defect(stubs: Stubs) -> None:
    stubs.refuse("ecs", "describe_tasks", "AccessDeniedException")
    with pytest.raises(ClientError, match="AccessDenied"):
        describe_tasks(stubs.client("ecs"), "runners", [ID])


def test_a_throttled_lookup_may_be_repeated_later(stubs: Stubs) -> None:
    stubs.refuse("ecs", "describe_tasks", "ThrottlingException")
    with pytest.raises(UnavailableError, match="ecs: "):
        describe_tasks(stubs.client("ecs"), "runners", [ID])


@mock_aws(config=KEEP_SESSION)
def test_tasks_of_an_emulated_ecs_are_found_with_their_tags_and_state() -> None:
    ecs: Any = boto3.client("ecs", "us-east-1")
    ecs.create_cluster(clusterName="runners")
    ecs.register_task_definition(
        family="runner", containerDefinitions=[{"name": "runner", "image": "runner", "memory": 512}]
    )
    started = ecs.run_task(
        cluster="runners",
        taskDefinition="runner",
        launchType="FARGATE",
        networkConfiguration={"awsvpcConfiguration": {"subnets": ["subnet-1"]}},
        tags=[{"key": "pool", "value": "blue"}],
    )
    task_arn = started["tasks"][0]["taskArn"]
    found = describe_tasks(ecs, "runners", [task_arn, GONE])
    assert found.keys() == {task_arn}
    assert (found[task_arn].runner_id, found[task_arn].pool_name) == (task_arn, "blue")
    assert describe_tasks(ecs, "no such cluster", [GONE]) == {}
