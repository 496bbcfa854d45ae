"""Where machines are, and which of those places this deployment can see. Pure.

`DescribeInstances` answers for one account and one region: outside them, "unknown" doesn't mean "terminated".
"""

import re
from dataclasses import dataclass

_TASK = re.compile(r"arn:aws[\w-]*:ecs:(?P<region>[\w-]+):(?P<account>\d{12}):task/")
# `us-west-2a`, and the local zone `us-west-2-lax-1a` of the same region.
_ZONE = re.compile(r"[a-z]{2}(?:-[a-z]+)+-\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An absent part is not known."""

    account_id: str | None = None
    region: str | None = None


NOWHERE = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The account of this deployment, and the regions in which its runners are looked for."""

    account_id: str
    regions: tuple[str, ...]

    def covers(self, place: Place) -> bool:
        """Only there can EC2 and ECS tell whether a machine is gone."""
        return place.account_id == self.account_id and place.region in self.regions

    def may_hold(self, place: Place) -> bool:
        """Whether it is worth looking there: a part that is not known may be ours."""
        return place.account_id in (None, self.account_id) and (place.region is None or place.region in self.regions)


def place_of(runner_id: str) -> Place:
    """A task's ARN names its account and region; an instance's id names neither."""
    found = _TASK.match(runner_id)
    return Place(account_id=found["account"], region=found["region"]) if found else NOWHERE


def region_of(availability_zone: str | None) -> str | None:
    found = _ZONE.match(availability_zone or "")
    return found[0] if found else None
