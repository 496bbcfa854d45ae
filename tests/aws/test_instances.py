"""EC2 and ECS are called with batches of ids; an unknown id is omitted, and the other machines are still found."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from runledger.model.errors import UnavailableError
from runledger.model.inputs import Lifecycle
from runledger.model.instance import Instance, RunnerKind
from runledger.runners.instances import describe, tagged

from tests.aws.stubs import Stubs
from tests.support.beds import KEEP_SESSION

ID, OTHER, GONE = "i-0d7d7144971263874", "i-0fcb6a4fb7dc30ac9", "i-0123456789abcdef0"
LAUNCHED = datetime(2025, 1, 15, 11, 0, 1, tzinfo=timezone(timedelta(hours=1)))
NOT_FOUND = "InvalidInstanceID.NotFound"


def response(*instances: dict[str, Any]) -> dict[str, Any]:
    return {"Reservations": [{"OwnerId": "123456789012", "Instances": [instance]} for instance in instances]}


def instance(instance_id: str, **more: Any) -> dict[str, Any]:
    return {"InstanceId": instance_id, "State": {"Code": 16, "Name": "running"}, **more}


def tags(**values: str) -> list[dict[str, str]]:
    return [{"Key": name.replace("_", "-"), "Value": value} for name, value in values.items()]


def test_an_instance_has_every_attribute_of_ec2(stubs: Stubs) -> None:
    ec2_tags = [{"Key": "runs-on-pool-name", "Value": "large"}, {"Key": "aws:ec2:fleet-id", "Value": "fleet-1"}]
    stubs.respond(
        "ec2",
        "describe_instances",
        response(
            instance(
                ID,
                InstanceType="m7g.large",
                InstanceLifecycle="spot",
                Placement={"AvailabilityZone": "eu-west-1a"},
                LaunchTime=LAUNCHED,
                Tags=ec2_tags,
            )
        ),
        {"InstanceIds": [ID]},
    )
    assert describe(stubs.client("ec2"), [ID]) == {
        ID: Instance(
            runner_id=ID,
            kind=RunnerKind.EC2,
            state="running",
            instance_type="m7g.large",
            lifecycle=Lifecycle.SPOT,
            fleet_id="fleet-1",
            pool_name="large",
            availability_zone="eu-west-1a",
            launched_at="2025-01-15T10:00:01.000Z",
            account_id="123456789012",
            region="us-east-1",
            tags={"runs-on-pool-name": "large", "aws:ec2:fleet-id": "fleet-1"},
        )
    }


@pytest.mark.parametrize(
    ("reported", "lifecycle"),
    [
        ({}, Lifecycle.ON_DEMAND),
        ({"InstanceLifecycle": "spot"}, Lifecycle.SPOT),
        ({"InstanceLifecycle": "scheduled"}, None),
        ({"InstanceLifecycle": "capacity-block"}, None),
    ],
)
def test_an_instance_is_on_demand_or_spot_or_paid_for_in_a_way_of_its_own(
    stubs: Stubs, reported: dict[str, str], lifecycle: Lifecycle | None
) -> None:
    stubs.respond("ec2", "describe_instances", response(instance(ID, **reported)))
    assert describe(stubs.client("ec2"), [ID])[ID].lifecycle is lifecycle


def test_fleet_and_pool_come_from_the_first_tag_with_a_value(stubs: Stubs) -> None:
    ec2_tags = [
        {"Key": "aws:ec2spot:fleet-request-id", "Value": "sfr-1"},
        {"Key": "team", "Value": ""},
        {"Key": "queue", "Value": "fast"},
    ]
    stubs.respond("ec2", "describe_instances", response(instance(ID, Tags=ec2_tags)))
    found = describe(stubs.client("ec2"), [ID], pool_tags=["team", "queue"])[ID]
    assert (found.fleet_id, found.pool_name) == ("sfr-1", "fast")


def test_instances_are_described_by_the_hundred_which_takes_less_than_a_time_out(stubs: Stubs) -> None:
    ids = [f"i-{number:017x}" for number in range(201)]
    for batch in (ids[:100], ids[100:200], ids[200:]):
        stubs.respond("ec2", "describe_instances", response(*map(instance, batch)), {"InstanceIds": batch})
    assert list(describe(stubs.client("ec2"), [*ids, ids[0]])) == ids


def test_instances_are_searched_by_their_tags_in_pages_of_a_hundred(stubs: Stubs) -> None:
    states = {"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "stopped"]}
    filters = [{"Name": "tag:team", "Values": ["ci"]}, states]
    for found, position, returned in ((ID, {}, {"NextToken": "more"}), (OTHER, {"NextToken": "more"}, {})):
        expected = {"Filters": filters, "MaxResults": 100, **position}
        stubs.respond("ec2", "describe_instances", response(instance(found)) | returned, expected)
    assert tagged(stubs.client("ec2"), {"team": "ci"}).keys() == {ID, OTHER}


def test_what_cannot_be_an_instance_id_is_never_looked_up(stubs: Stubs) -> None:
    assert describe(stubs.client("ec2"), ["", "i-x", "i-123", ID + "0", ID + "\n", "GitHub Actions 2"]) == {}


def test_unknown_instances_are_left_out_and_the_others_looked_up_again(stubs: Stubs) -> None:
    stubs.refuse("ec2", "describe_instances", NOT_FOUND, f"The instance IDs '{GONE}, {OTHER}' do not exist")
    stubs.respond("ec2", "describe_instances", response(instance(ID)), {"InstanceIds": [ID]})
    assert describe(stubs.client("ec2"), [ID, OTHER, GONE]).keys() == {ID}


def test_no_second_call_is_made_when_all_ids_are_unknown(stubs: Stubs) -> None:
    stubs.refuse("ec2", "describe_instances", NOT_FOUND, f"The instance ID '{GONE}' does not exist")
    assert describe(stubs.client("ec2"), [GONE]) == {}


@pytest.mark.parametrize(
    ("code", "message"),
    [(NOT_FOUND, "some do not exist"), (NOT_FOUND, f"'{GONE}' does not exist"), ("UnauthorizedOperation", ID)],
)
def test_an_error_that_names_no_requested_id_is_raised(stubs: Stubs, code: str, message: str) -> None:
    stubs.refuse("ec2", "describe_instances", code, message)
    with pytest.raises(ClientError, match=re.escape(code)):
        describe(stubs.client("ec2"), [ID])


def test_a_throttled_lookup_may_be_repeated_later(stubs: Stubs) -> None:
    stubs.refuse("ec2", "describe_instances", "RequestLimitExceeded")
    with pytest.raises(UnavailableError, match="ec2: "):
        describe(stubs.client("ec2"), [ID])


@mock_aws(config=KEEP_SESSION)
def test_instances_of_an_emulated_ec2_are_found_with_their_tags_and_state() -> None:
    ec2: Any = boto3.client("ec2", "us-east-1")
    before = datetime.now(UTC).isoformat()
    launched = ec2.run_instances(
        ImageId="ami-12c6146b",
        MinCount=2,
        MaxCount=2,
        InstanceType="m5.large",
        TagSpecifications=[{"ResourceType": "instance", "Tags": tags(pool="blue")}],
    )
    ids = [each["InstanceId"] for each in launched["Instances"]]
    ec2.terminate_instances(InstanceIds=ids[1:])
    found = describe(ec2, [*ids, GONE, OTHER])
    assert {each: found[each].state for each in found} == {ids[0]: "running", ids[1]: "terminated"}
    running = found[ids[0]]
    assert (running.instance_type, running.lifecycle, running.pool_name) == ("m5.large", "on-demand", "blue")
    assert running.availability_zone == "us-east-1a"
    assert running.launched_at is not None
    assert running.launched_at[:16] >= before[:16]
