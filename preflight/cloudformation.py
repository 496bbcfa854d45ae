"""The stacks in one account and region: which exist, whether they can be updated, and which resources they have."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from botocore.exceptions import ClientError

from preflight.results import Ok, Outcome, Problem
from stacks.names import Part, stack_name

APPLICATION = {"Key": "application", "Value": "runledger"}


class Condition(StrEnum):
    """What the status of a stack means for the next deployment."""

    UPDATABLE = "updatable"
    BUSY = "busy"
    EMPTY = "empty"  # its first deployment failed and was rolled back
    INCOMPLETE = "incomplete"  # it may still have resources, and can only be deleted
    ROLLBACK_STOPPED = "rollback stopped"  # it has all its resources, and its rollback must be finished first


CONDITIONS = {
    "ROLLBACK_COMPLETE": Condition.EMPTY,
    "REVIEW_IN_PROGRESS": Condition.EMPTY,
    "CREATE_FAILED": Condition.INCOMPLETE,
    "ROLLBACK_FAILED": Condition.INCOMPLETE,
    "DELETE_FAILED": Condition.INCOMPLETE,
    "UPDATE_ROLLBACK_FAILED": Condition.ROLLBACK_STOPPED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    stack_id: str
    name: str
    status: str
    is_ours: bool
    is_protected: bool
    outputs: Mapping[str, str]

    @property
    def condition(self) -> Condition:
        busy = Condition.BUSY if self.status.endswith("_IN_PROGRESS") else Condition.UPDATABLE
        return CONDITIONS.get(self.status, busy)


def find_stack(session: Any, name: str) -> Stack | None:
    try:
        (found,) = session.client("cloudformation").describe_stacks(StackName=name)["Stacks"]
    except ClientError as error:
        if "does not exist" in str(error):
            return None
        raise
    return _stack(found)


def parts(session: Any, stage: str) -> list[Stack]:
    """The existing stacks of a stage, without those in other regions."""
    return [each for part in Part if (each := find_stack(session, stack_name(stage, part)))]


def our_stacks(session: Any) -> Iterator[Stack]:
    """The stacks of every stage, and those that forward events from this region to deployments in other regions."""
    for page in session.client("cloudformation").get_paginator("describe_stacks").paginate():
        yield from (stack for each in page["Stacks"] if (stack := _stack(each)).is_ours)


def resources(session: Any, stacks: Iterable[Stack]) -> set[str]:
    """The physical ids of all resources of these stacks."""
    pages = session.client("cloudformation").get_paginator("list_stack_resources")
    return {
        each["PhysicalResourceId"]
        for stack in stacks
        for page in pages.paginate(StackName=stack.name)
        for each in page["StackResourceSummaries"]
        if "PhysicalResourceId" in each
    }


def can_be_updated(session: Any, stage: str) -> Outcome:
    found = parts(session, stage)
    for stack in found:
        if problem := obstacle(stack, session.region_name):
            return problem
    if not found:
        return Ok(f"the stage {stage} has no stacks yet: this is its first deployment")
    return Ok(f"{len(found)} of {len(Part)} exist and can be updated")


def obstacle(stack: Stack, region: str) -> Problem | None:
    """The problem that keeps a deployment from updating the stack, and how to solve it."""
    if not stack.is_ours:
        return Problem(f"{stack.name} isn't a Runledger stack", "choose another `stage`")
    state = f"{stack.name} is in {stack.status}"
    match stack.condition:
        case Condition.UPDATABLE:
            return None
        case Condition.BUSY:
            return Problem(state, "wait until the other deployment has finished")
        case Condition.ROLLBACK_STOPPED:
            return Problem(
                f"{state}: it contains your data, so don't delete it",
                f"fix the cause, run `{_command('continue-update-rollback', stack, region)}`, then deploy again",
            )
        case Condition.INCOMPLETE:
            return Problem(
                f"{state}: it may still have resources",
                f"list them with `{_command('list-stack-resources', stack, region)}`, then "
                f"{_deletion(stack, region)}, and deploy again",
            )
        case Condition.EMPTY:
            return Problem(f"{state} and can't be updated", f"{_deletion(stack, region)}, then deploy again")


def _deletion(stack: Stack, region: str) -> str:
    delete = f"`{_command('delete-stack', stack, region)}`"
    if not stack.is_protected:
        return f"run {delete}"
    unprotect = _command("update-termination-protection --no-enable-termination-protection", stack, region)
    return f"turn off its termination protection with `{unprotect}`, run {delete}"


def _command(action: str, stack: Stack, region: str) -> str:
    return f"aws cloudformation {action} --stack-name {stack.name} --region {region}"


def _stack(found: Any) -> Stack:
    return Stack(
        stack_id=found["StackId"],
        name=found["StackName"],
        status=found["StackStatus"],
        is_ours=APPLICATION in found.get("Tags", []),
        is_protected=found.get("EnableTerminationProtection", False),
        outputs={each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", [])},
    )
