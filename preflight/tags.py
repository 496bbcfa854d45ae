"""Checks that no other deployment terminates the same machines."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from runledger.model.passes import OrphanMode
from runledger.model.tag_patterns import has_wildcard, matches

from preflight.cloudformation import Stack, find_stack, our_stacks
from preflight.results import Ok, Outcome, Problem, Skipped
from stacks.names import Part, forwarder_stack, stack_name
from stacks.settings import Settings


def runner_tags(session_in: Callable[[str], Any], main_region: str, settings: Settings) -> Outcome:
    """Every deployment has a stack with its policy in each of its regions, so it is enough to look in ours."""
    if settings.orphans is not OrphanMode.ENFORCE:
        return Skipped("`orphans` is `report`: this stage doesn't terminate machines by itself")
    for region in (main_region, *settings.regions_beside(main_region)):
        session = session_in(region)
        own = find_stack(session, _own_stack(settings, region, main_region))
        for stack in our_stacks(session):
            # Compares ids, because another deployment's stack may have the same name in another region.
            if (own is None or stack.stack_id != own.stack_id) and _stops_the_same(stack, settings):
                return Problem(
                    f"{stack.name} in {region} terminates machines too, and a machine can match both `runner_tags`",
                    "give one of the tags different values in the two deployments",
                )
    return Ok("no other deployment terminates the same machines")


def are_disjoint(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether no machine can have all tags of both: they share a tag whose values exclude each other."""
    return any(_exclude_each_other(one[name], other[name]) for name in one.keys() & other.keys())


def _exclude_each_other(one: str, other: str) -> bool:
    """True only if it is certain. Two patterns may match the same value, so they never count as different."""
    if has_wildcard(one) and has_wildcard(other):
        return False
    return not (matches(one, other) or matches(other, one))


def _stops_the_same(stack: Stack, settings: Settings) -> bool:
    if "OrphanPolicy" not in stack.outputs:
        return False
    policy = json.loads(stack.outputs["OrphanPolicy"])
    return policy["orphans"] == OrphanMode.ENFORCE and not are_disjoint(settings.runner_tags, policy["runner_tags"])


def _own_stack(settings: Settings, region: str, main_region: str) -> str:
    if region == main_region:
        return stack_name(settings.stage, Part.EVENTS)
    return forwarder_stack(settings.stage, region, main_region)
