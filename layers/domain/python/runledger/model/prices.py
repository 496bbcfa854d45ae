"""The hourly price of a machine, and what it is found by. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Without `trouble`, a missing price isn't published. With `trouble`, AWS couldn't be reached: retry later."""

    per_hour: Decimal | None = None
    on_demand_per_hour: Decimal | None = None
    trouble: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceQuery:
    """The attributes of a runner that determine its price. AWS is asked only for prices that aren't `reported`."""

    instance_type: str | None
    instance_lifecycle: str | None
    availability_zone: str | None
    at: str
    reported: Price = Price()


FindPrice = Callable[[PriceQuery], Price]
