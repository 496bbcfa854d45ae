"""The accounts and regions of machines, and the scope that this deployment can describe. Pure.

`DescribeInstances` covers one account and one region: outside them, "unknown" doesn't mean "terminated".
"""

import re

from runledger.model.dataclass import dataclass
from runledger.model.runner_names import TASK_ARN

_TASK = re.compile(TASK_ARN)
# `us-west-2a`, and the local zone `us-west-2-lax-1a` of the same region.
_ZONE = re.compile(r"[a-z]{2}(?:-[a-z]+)+-\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """None means unknown."""

    account_id: str | None = None
    region: str | None = None


UNKNOWN_PLACE = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The account of this deployment, and the regions of its runners."""

    account_id: str
    regions: tuple[str, ...]

    def covers(self, place: Place) -> bool:
        """Only in these places does an unknown id mean that the machine is gone."""
        return place.account_id == self.account_id and place.region in self.regions

    def may_hold(self, place: Place) -> bool:
        """Whether to describe machines there: an unknown account or region may be in scope."""
        return place.account_id in (None, self.account_id) and (place.region is None or place.region in self.regions)


def place_of(runner_id: str) -> Place:
    """The ARN of a task contains its account and region; an instance id contains neither."""
    found = _TASK.match(runner_id)
    return Place(account_id=found["account"], region=found["region"]) if found else UNKNOWN_PLACE


def region_of(availability_zone: str | None) -> str | None:
    found = _ZONE.match(availability_zone or "")
    return found[0] if found else None
