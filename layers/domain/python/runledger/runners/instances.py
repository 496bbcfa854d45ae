"""Descriptions of instances and tasks from EC2 and ECS, for machines that no launcher reported."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from botocore.exceptions import ClientError

from runledger.model import times
from runledger.model.inputs import Lifecycle
from runledger.model.instance import Condition, Instance, RunnerKind, instance_states
from runledger.model.places import Place, place_of
from runledger.model.runner_names import INSTANCE, POOL_TAGS, TASK_ARN
from runledger.platform.availability import translate_errors

# EC2 accepts a thousand, but then takes longer than the client's timeout.
MAX_INSTANCES_PER_CALL = 100
MAX_TASKS_PER_CALL = 100

NOT_GONE = instance_states(Condition.ALIVE, Condition.STOPPED)
FLEET_TAGS = ("aws:ec2:fleet-id", "aws:ec2spot:fleet-request-id")

# EC2 and ECS reject a whole batch if one id is malformed.
_INSTANCE = re.compile(INSTANCE)
_TASK = re.compile(
    rf"(?:{TASK_ARN}(?:(?P<cluster>[\w-]+)/)?)?"
    r"(?P<id>[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
)


def describe(ec2: Any, instance_ids: Collection[str], *, pool_tags: Sequence[str] = POOL_TAGS) -> dict[str, Instance]:
    """By instance id, in the account and region of the client. Missing instances are omitted."""
    ids = sorted(filter(_INSTANCE.fullmatch, set(instance_ids)))
    return {
        each.runner_id: each
        for batch in _batches(ids, MAX_INSTANCES_PER_CALL)
        for each in _instances(ec2, batch, pool_tags)
    }


def describe_tasks(
    ecs: Any, cluster: str, task_ids: Collection[str], *, pool_tags: Sequence[str] = POOL_TAGS
) -> dict[str, Instance]:
    """By task id or ARN, as requested. An ARN contains its own cluster. Missing tasks are omitted."""
    matches = {requested: match for requested in task_ids if (match := _TASK.fullmatch(requested))}
    ids = defaultdict(set)
    for match in matches.values():
        ids[match["cluster"] or cluster].add(match["id"])
    found = {
        response["taskArn"].rpartition("/")[2]: _task(response, pool_tags)
        for cluster_name, members in ids.items()
        for batch in _batches(sorted(members), MAX_TASKS_PER_CALL)
        for response in _tasks(ecs, cluster_name, batch)
    }
    # An ARN of another account or region may end with the same id: it is another task.
    return {
        requested: task
        for requested, match in matches.items()
        if (task := found.get(match["id"])) and requested in (match["id"], task.runner_id)
    }


def tagged(ec2: Any, tags: Mapping[str, str], *, pool_tags: Sequence[str] = POOL_TAGS) -> dict[str, Instance]:
    """Every instance that has all these tags and is not gone; `*` matches any value."""
    filters = [{"Name": f"tag:{name}", "Values": [value]} for name, value in tags.items()]
    filters.append({"Name": "instance-state-name", "Values": list(NOT_GONE)})
    with translate_errors("ec2"):
        pages = ec2.get_paginator("describe_instances").paginate(
            Filters=filters, PaginationConfig={"PageSize": MAX_INSTANCES_PER_CALL}
        )
        return {each.runner_id: each for each in _reserved(pages, ec2, pool_tags)}


def running_tasks(ecs: Any, cluster: str, *, pool_tags: Sequence[str] = POOL_TAGS) -> dict[str, Instance]:
    """Every task of the cluster whose desired status is RUNNING, by ARN. Empty if the cluster doesn't exist."""
    try:
        with translate_errors("ecs"):
            pages = ecs.get_paginator("list_tasks").paginate(cluster=cluster, desiredStatus="RUNNING")
            arns = [arn for page in pages for arn in page["taskArns"]]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ClusterNotFoundException":
            return {}
        raise
    return describe_tasks(ecs, cluster, arns, pool_tags=pool_tags)


def _batches(ids: list[str], size: int) -> Iterator[list[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))


def _instances(ec2: Any, ids: list[str], pool_tags: Sequence[str]) -> list[Instance]:
    while ids:
        try:
            with translate_errors("ec2"):
                pages = ec2.get_paginator("describe_instances").paginate(InstanceIds=ids)
                return list(_reserved(pages, ec2, pool_tags))
        except ClientError as error:
            ids = _without_missing(ids, error)
    return []


def _reserved(pages: Iterable[Mapping[str, Any]], ec2: Any, pool_tags: Sequence[str]) -> Iterator[Instance]:
    for page in pages:
        for group in page["Reservations"]:
            place = Place(account_id=group.get("OwnerId"), region=ec2.meta.region_name)
            yield from (_instance(each, place, pool_tags) for each in group["Instances"])


def _without_missing(ids: list[str], error: ClientError) -> list[str]:
    """If one instance doesn't exist, EC2 describes none, and lists the missing ids in its error."""
    if error.response["Error"]["Code"] != "InvalidInstanceID.NotFound":
        raise error
    missing = set(_INSTANCE.findall(error.response["Error"]["Message"]))
    left = [each for each in ids if each not in missing]
    if len(left) == len(ids):
        raise error
    return left


def _tasks(ecs: Any, cluster: str, ids: list[str]) -> list[dict[str, Any]]:
    try:
        with translate_errors("ecs"):
            response = ecs.describe_tasks(cluster=cluster, tasks=ids, include=["TAGS"])
    except ClientError as error:
        if error.response["Error"]["Code"] == "ClusterNotFoundException":
            return []  # a deleted cluster has no tasks
        raise
    return list(response["tasks"])


def _instance(response: Mapping[str, Any], place: Place, pool_tags: Sequence[str]) -> Instance:
    tags = {tag["Key"]: tag["Value"] for tag in response.get("Tags", [])}
    # Absent for an on-demand instance. Prices of other pricing models aren't supported.
    lifecycle = {None: Lifecycle.ON_DEMAND, "spot": Lifecycle.SPOT}.get(response.get("InstanceLifecycle"))
    return Instance(
        runner_id=response["InstanceId"],
        kind=RunnerKind.EC2,
        state=response["State"]["Name"],
        instance_type=response.get("InstanceType"),
        lifecycle=lifecycle,
        fleet_id=_first(tags, FLEET_TAGS),
        pool_name=_first(tags, pool_tags),
        availability_zone=response.get("Placement", {}).get("AvailabilityZone"),
        launched_at=_instant(response, "LaunchTime"),
        account_id=place.account_id,
        region=place.region,
        tags=tags,
    )


def _task(response: Mapping[str, Any], pool_tags: Sequence[str]) -> Instance:
    tags = {tag["key"]: tag["value"] for tag in response.get("tags", [])}
    place = place_of(response["taskArn"])
    return Instance(
        runner_id=response["taskArn"],
        kind=RunnerKind.ECS,
        state=response["lastStatus"].lower(),
        lifecycle=_task_lifecycle(response),
        pool_name=_first(tags, pool_tags),
        availability_zone=response.get("availabilityZone"),
        launched_at=_instant(response, "createdAt"),
        account_id=place.account_id,
        region=place.region,
        tags=tags,
    )


def _task_lifecycle(response: Mapping[str, Any]) -> Lifecycle | None:
    """None for a task on EC2: it has the lifecycle of its container instance, which isn't described here."""
    if response.get("capacityProviderName") == "FARGATE_SPOT":
        return Lifecycle.SPOT
    return Lifecycle.ON_DEMAND if response.get("launchType") == "FARGATE" else None


def _first(tags: Mapping[str, str], names: Sequence[str]) -> str | None:
    return next((tags[name] for name in names if tags.get(name)), None)


def _instant(response: Mapping[str, Any], name: str) -> str | None:
    return times.normalised(response[name].isoformat()) if name in response else None
