"""The hourly price of a machine, and the attributes that determine it. Pure."""

from collections.abc import Callable
from decimal import Decimal

from runledger.model.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """If `error` is None, a missing price means that AWS publishes none.

    Otherwise AWS couldn't be reached: retry later.
    """

    per_hour: Decimal | None = None
    on_demand_per_hour: Decimal | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceQuery:
    """The attributes of a runner that determine its price.

    Only prices that aren't `reported` are requested from AWS.
    """

    instance_type: str | None
    instance_lifecycle: str | None
    availability_zone: str | None
    at: str
    reported: Price = Price()


FindPrice = Callable[[PriceQuery], Price]
