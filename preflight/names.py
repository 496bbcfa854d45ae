"""Names in the account that a deployment would collide with, or that an earlier installation left behind."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from preflight.results import Ok, Outcome, Problem, Skipped
from stacks.settings import Settings

APPLICATION = {"Key": "application", "Value": "runledger"}
STACKS = ("data", "events", "api", "observability")
# A stack in one of these can't be updated. Its first creation failed, so it holds nothing.
NEVER_CREATED = {"ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "REVIEW_IN_PROGRESS", "DELETE_FAILED", "CREATE_FAILED"}
REMOVAL = "docs/operating.md#remove-it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    name: str
    status: str
    is_ours: bool
    outputs: Mapping[str, str]


def find_stack(session: Any, name: str) -> Stack | None:
    try:
        (found,) = session.client("cloudformation").describe_stacks(StackName=name)["Stacks"]
    except ClientError as error:
        if "does not exist" in str(error):
            return None
        raise
    return _stack(found)


def stacks(session: Any, stage: str) -> Outcome:
    found = [each for part in STACKS if (each := find_stack(session, f"runledger-{stage}-{part}"))]
    for stack in found:
        if not stack.is_ours:
            return Problem(f"{stack.name} is not a stack of Runledger", "choose another `stage`")
        if stack.status in NEVER_CREATED:
            return Problem(
                f"{stack.name} is in {stack.status} and can't be updated",
                f"aws cloudformation delete-stack --stack-name {stack.name}, then deploy again",
            )
        if stack.status.endswith("_IN_PROGRESS"):
            return Problem(f"{stack.name} is in {stack.status}", "wait until the other deployment is over")
    if not found:
        return Ok(f"no stack of the stage {stage} exists: this is its first deployment")
    return Ok(f"{len(found)} of {len(STACKS)} exist and can be updated")


def fixed_names(session: Any, stage: str) -> Outcome:
    """Dashboards, alarms and the bus have the names that people look for, and only one resource can have them."""
    prefix = f"runledger-{stage}"
    taken = []
    if find_stack(session, f"{prefix}-observability") is None:
        wanted = {prefix, f"{prefix}-{session.region_name}"}
        dashboards = session.client("cloudwatch").list_dashboards(DashboardNamePrefix=prefix)["DashboardEntries"]
        taken += [f"dashboard {each['DashboardName']}" for each in dashboards if each["DashboardName"] in wanted]
        alarms = session.client("cloudwatch").describe_alarms(AlarmNamePrefix=f"{prefix}-")["MetricAlarms"]
        taken += [f"alarm {each['AlarmName']}" for each in alarms]
    if find_stack(session, f"{prefix}-events") is None:
        buses = session.client("events").list_event_buses(NamePrefix=prefix)["EventBuses"]
        taken += [f"event bus {each['Name']}" for each in buses if each["Name"] == prefix]
    if taken:
        return Problem(f"taken by something else: {', '.join(taken)}", "delete it, or choose another `stage`")
    return Ok("free, or in use by this deployment")


def leftovers(session: Any, stage: str) -> Outcome:
    """A new deployment would not use them: it creates resources with new names."""
    left = []
    if find_stack(session, f"runledger-{stage}-data") is None:
        pages = session.client("dynamodb").get_paginator("list_tables").paginate()
        names = [name for page in pages for name in page["TableNames"]]
        left += [f"table {name}" for name in names if name.startswith(f"runledger-{stage}-data-")]
    for part in ("events", "api"):
        if find_stack(session, f"runledger-{stage}-{part}") is None:
            prefix = f"runledger-{stage}-{part}-"
            pages = session.client("logs").get_paginator("describe_log_groups").paginate(logGroupNamePrefix=prefix)
            left += [f"log group {each['logGroupName']}" for page in pages for each in page["logGroups"]]
            urls = session.client("sqs").list_queues(QueueNamePrefix=prefix).get("QueueUrls", [])
            left += [f"queue {url.rpartition('/')[2]}" for url in urls]
    if left:
        return Problem(
            f"an earlier installation left {', '.join(left)}; a deployment would start with empty tables",
            f"import the tables, or remove what is left ({REMOVAL})",
        )
    return Ok("nothing is left of an earlier installation")


def tags(session: Any, settings: Settings) -> Outcome:
    """Two stages that stop machines must never both take the same one for theirs."""
    if settings.orphans != "enforce":
        return Skipped("`orphans` is `report`: this stage stops nothing")
    own = f"runledger-{settings.stage}-events"
    for stack in _ours(session):
        if stack.name == own or "OrphanPolicy" not in stack.outputs:
            continue
        policy = json.loads(stack.outputs["OrphanPolicy"])
        if policy["orphans"] == "enforce" and not are_disjoint(settings.runner_tags, policy["runner_tags"]):
            return Problem(
                f"{stack.name} stops machines too, and one machine can have the `runner_tags` of both stages",
                "give the stages different values of one tag",
            )
    return Ok("no other stage in this region stops the same machines")


def are_disjoint(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether no machine can have all tags of both: one of the tags must have two values. `*` is any value."""
    shared = one.keys() & other.keys()
    return any("*" not in (one[name], other[name]) and one[name] != other[name] for name in shared)


def _ours(session: Any) -> Iterator[Stack]:
    for page in session.client("cloudformation").get_paginator("describe_stacks").paginate():
        yield from (stack for each in page["Stacks"] if (stack := _stack(each)).is_ours)


def _stack(found: Any) -> Stack:
    return Stack(
        name=found["StackName"],
        status=found["StackStatus"],
        is_ours=APPLICATION in found.get("Tags", []),
        outputs={each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", [])},
    )
