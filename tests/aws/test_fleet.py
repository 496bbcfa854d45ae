"""Which machines may be terminated, and how one of them is terminated, whatever it is."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from runledger.model.errors import UnavailableError
from runledger.model.instance import Instance, RunnerKind
from runledger.model.places import Place, Scope
from runledger.runners.fleet import Fleet, cluster_of

from tests.aws.stubs import Stubs
from tests.support.beds import KEEP_SESSION
from tests.support.runner_events import ACCOUNT, SCOPE

TASK = "arn:aws:ecs:us-east-1:123456789012:task/runners/0f9de17a6465404e8b1b2356dc13c2f8"
INSTANCE = "i-0abc1234def567890"
HERE = Place(account_id=ACCOUNT, region="us-east-1")


def machine(runner_id: str = INSTANCE, /, place: Place = HERE, **tags: str) -> Instance:
    kind = RunnerKind.ECS if runner_id == TASK else RunnerKind.EC2
    return Instance(
        runner_id=runner_id, kind=kind, state="running", account_id=place.account_id, region=place.region, tags=tags
    )


def fleet(ec2: Any = None, ecs: Any = None, **tags: str) -> Fleet:
    clients = {"ec2": ec2, "ecs": ecs}
    return Fleet(
        client=lambda service, _: clients[service],
        scope=SCOPE,
        clusters=("runners", "gpu"),
        tags=tags,
        pool_tags=("pool",),
    )


def fleet_of(*regions: str, client: Any = boto3.client, **tags: str) -> Fleet:
    scope = Scope(account_id=ACCOUNT, regions=regions)
    return Fleet(client=client, scope=scope, clusters=("default",), tags=tags, pool_tags=("pool",))


@pytest.fixture
def aws() -> Iterator[None]:
    with mock_aws(config=KEEP_SESSION):
        yield


@pytest.mark.parametrize(
    ("tags", "allowed"),
    [
        ({"team": "ci", "runner": "yes"}, True),
        ({"team": "ci", "runner": "anything"}, True),
        ({"team": "ci", "runner": "yes", "more": "of it"}, True),
        ({"team": "cia", "runner": "yes"}, False),
        ({"team": "ci"}, False),
        ({"Team": "ci", "runner": "yes"}, False),
        ({}, False),
    ],
)
def test_a_machine_may_be_stopped_if_it_has_every_tag(tags: dict[str, str], allowed: bool) -> None:
    assert fleet(team="ci", runner="*").may_terminate(machine(INSTANCE, HERE, **tags)) is allowed


def test_without_tags_nothing_may_be_stopped() -> None:
    assert not fleet().may_terminate(machine(team="ci"))
    assert fleet().terminable() == {}


@pytest.mark.usefixtures("aws")
def test_instances_and_tasks_of_ours_are_found_and_no_others() -> None:
    ec2, ecs = boto3.client("ec2"), boto3.client("ecs")
    started = {value: start(ec2, team=value) for value in ("ci", "web")}
    found = fleet(ec2, ecs, team="ci").terminable()
    assert found.keys() == {started["ci"]}
    ec2.terminate_instances(InstanceIds=[started["ci"]])
    assert fleet(ec2, ecs, team="ci").terminable() == {}


@pytest.mark.usefixtures("aws")
def test_an_instance_is_terminated_and_what_is_gone_is_stopped_already() -> None:
    ec2 = boto3.client("ec2")
    machines = fleet(ec2, team="ci")
    instance_id = start(ec2, team="ci")
    for _ in range(2):
        machines.terminate(machine(instance_id), reason="orphan")
    assert machines.describe([instance_id])[instance_id].state == "terminated"
    machines.terminate(machine("i-00000000000000000"), reason="orphan")


def test_a_task_is_stopped_in_the_cluster_that_its_arn_names(stubs: Stubs) -> None:
    expected = {"cluster": "runners", "task": TASK, "reason": "orphan"}
    stubs.respond("ecs", "stop_task", {}, expected)
    fleet(ecs=stubs.client("ecs")).terminate(machine(TASK), reason="orphan")


def test_a_task_in_a_cluster_that_is_not_listed_is_never_stopped() -> None:
    tagged = machine(TASK, HERE, team="ci")
    assert fleet(team="ci").may_terminate(tagged)
    assert not fleet_of("us-east-1", team="ci").may_terminate(tagged)


def test_a_task_without_a_cluster_in_its_id_is_looked_up_in_every_cluster(stubs: Stubs) -> None:
    task_id = TASK.rpartition("/")[2]
    found = {"taskArn": TASK.replace("runners", "gpu"), "lastStatus": "RUNNING"}
    for cluster, tasks in (("runners", []), ("gpu", [found])):
        stubs.respond(
            "ecs", "describe_tasks", {"tasks": tasks}, {"cluster": cluster, "tasks": [task_id], "include": ["TAGS"]}
        )
    described = fleet(ecs=stubs.client("ecs")).find(task_id, RunnerKind.ECS)
    assert described is not None
    assert cluster_of(described.runner_id) == "gpu"


def test_a_task_is_described_in_the_cluster_of_its_arn_only(stubs: Stubs) -> None:
    arn = TASK.replace("runners", "gpu")
    expected = {"cluster": "gpu", "tasks": [arn.rpartition("/")[2]], "include": ["TAGS"]}
    stubs.respond("ecs", "describe_tasks", {"tasks": []}, expected)
    assert fleet(ecs=stubs.client("ecs")).describe([arn]) == {}


@pytest.mark.usefixtures("aws")
def test_tasks_of_every_listed_cluster_are_found() -> None:
    called: list[str] = []

    class Ecs:
        def get_paginator(self, _: str) -> "Ecs":
            return self

        def paginate(self, *, cluster: str, **_: str) -> list[dict[str, list[str]]]:
            called.append(cluster)
            return [{"taskArns": []}]

    assert fleet(boto3.client("ec2"), Ecs(), team="ci").terminable() == {}
    assert called == ["runners", "gpu"]


def test_a_task_that_is_gone_counts_as_stopped_and_any_other_error_is_raised(stubs: Stubs) -> None:
    machines = fleet(ecs=stubs.client("ecs"))
    stubs.refuse("ecs", "stop_task", "InvalidParameterException", "The referenced task was not found.")
    machines.terminate(machine(TASK), reason="orphan")
    stubs.refuse("ecs", "stop_task", "InvalidParameterException", "reason is too long")
    with pytest.raises(ClientError):
        machines.terminate(machine(TASK), reason="orphan")
    stubs.refuse("ecs", "stop_task", "ThrottlingException")
    with pytest.raises(UnavailableError):
        machines.terminate(machine(TASK), reason="orphan")


def test_a_short_arn_is_of_the_default_cluster() -> None:
    assert cluster_of(TASK) == "runners"
    assert cluster_of("arn:aws:ecs:us-east-1:123456789012:task/0f9de17a6465404e8b1b2356dc13c2f8") == "default"


def start(ec2: Any, **tags: str) -> str:
    marks = [{"Key": name, "Value": value} for name, value in tags.items()]
    specification = [{"ResourceType": "instance", "Tags": marks}]
    started = ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1, TagSpecifications=specification)
    return str(started["Instances"][0]["InstanceId"])


@pytest.mark.usefixtures("aws")
def test_machines_are_found_and_stopped_in_every_region_of_the_scope() -> None:
    near, far, outside = (boto3.client("ec2", region) for region in ("us-east-1", "eu-west-1", "ap-southeast-2"))
    here, there, elsewhere = start(near, team="ci"), start(far, team="ci"), start(outside, team="ci")
    machines = fleet_of("us-east-1", "eu-west-1", team="ci")
    found = machines.describe([here, there, elsewhere])
    assert {each.runner_id: each.place for each in found.values()} == {
        here: HERE,
        there: Place(account_id=ACCOUNT, region="eu-west-1"),
    }
    assert machines.terminable().keys() == {here, there}
    machines.terminate(found[there], reason="orphan")
    states = machines.describe([here, there])
    assert (states[here].state, states[there].state) == ("running", "terminated")


@pytest.mark.parametrize(
    "place", [Place(account_id="999999999999", region="us-east-1"), Place(account_id=ACCOUNT, region="eu-west-1")]
)
def test_a_machine_of_another_account_or_region_is_never_stopped(place: Place) -> None:
    with pytest.raises(ValueError, match="not in an account and region"):
        fleet(team="ci").terminate(machine(INSTANCE, place, team="ci"), reason="orphan")


def test_a_task_is_looked_for_in_the_region_that_its_arn_names_and_not_in_other_accounts() -> None:
    called = []

    def client(service: str, region: str) -> Any:
        called.append((service, region))
        return Nothing()

    class Nothing:
        def describe_tasks(self, **_: Any) -> dict[str, Any]:
            return {"tasks": []}

    machines = fleet_of("us-east-1", "eu-west-1", client=client)
    far = TASK.replace("us-east-1", "eu-west-1")
    foreign = TASK.replace(ACCOUNT, "999999999999")
    assert machines.describe([far, foreign, TASK.replace("us-east-1", "ap-southeast-2")]) == {}
    assert called == [("ecs", "eu-west-1")]


def test_a_lookup_that_must_wait_is_counted(stubs: Stubs) -> None:
    stubs.refuse("ec2", "describe_instances", "RequestLimitExceeded")
    troubles: list[UnavailableError] = []
    machines = replace(fleet(stubs.client("ec2")), on_deferred=troubles.append)
    with pytest.raises(UnavailableError):
        machines.find(INSTANCE, RunnerKind.EC2)
    assert len(troubles) == 1
