"""Hourly prices of EC2 instances in dollars, as AWS publishes them. An unknown price is None, and never 0.

A Fargate task has no instance type and is billed by CPU and memory: its price is known only if its launcher reports it.
"""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from botocore.exceptions import ClientError

from runledger.model.errors import UnavailableError
from runledger.model.places import region_of
from runledger.model.reports import Price, Wanted
from runledger.platform.availability import reaching

ON_DEMAND_FRESH_SECONDS = 24 * 3600.0
SPOT_FRESH_SECONDS = 3600.0
# Short enough for a new instance type or permission, and long enough not to ask again for each job.
UNKNOWN_FRESH_SECONDS = 300.0
# After a call that failed: other jobs must not wait for the same time-out.
TROUBLE_FRESH_SECONDS = 60.0

# Raised by a response that doesn't have the documented form.
UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    price: Decimal | None
    until: float
    trouble: UnavailableError | None = None


class Prices:
    """Temporary trouble is an UnavailableError. A request that AWS rejects is logged, and the price is unknown."""

    def __init__(
        self,
        ec2: Callable[[str], Any],
        pricing: Any,
        *,
        regions: Sequence[str],
        clock: Callable[[], float],
        warn: Callable[[str], None] = _log.warning,
        postponed: Callable[[UnavailableError], None] = lambda _: None,
    ) -> None:
        """`ec2` gives the client of one of `regions`; an instance without an availability zone is in the first of them.

        `pricing` is in few regions only (us-east-1 is one), and has the prices of all.
        """
        self._ec2 = ec2
        self._pricing = pricing
        self._regions = regions
        self._clock = clock
        self._warn = warn
        self._postponed = postponed
        self._answers: dict[tuple[str, ...], _Answer] = {}

    def find(self, wanted: Wanted) -> Price:
        """Never raises: a job's machine must be recorded even without its price. Trouble is in the result."""
        try:
            return self._found(wanted)
        except UnavailableError as trouble:
            self._warn(f"the price of {wanted.instance_type} is unknown: {trouble}")
            self._postponed(trouble)
            return Price(trouble=str(trouble))

    def _found(self, wanted: Wanted) -> Price:
        """A spot instance also gets its on-demand price, from which the saving follows."""
        if wanted.instance_type is None:
            return Price()
        on_demand = self.on_demand(wanted.instance_type, wanted.availability_zone)
        match wanted.instance_lifecycle, wanted.availability_zone:
            case "on-demand", _:
                per_hour = on_demand
            case "spot", str(zone):
                per_hour = self.spot(wanted.instance_type, zone, wanted.at)
            case _:
                per_hour = None
        return Price(per_hour=per_hour, on_demand_per_hour=on_demand)

    def on_demand(self, instance_type: str, availability_zone: str | None = None) -> Decimal | None:
        region = region_of(availability_zone) or self._regions[0]
        return self._remembered(
            (instance_type, "on-demand", region),
            ON_DEMAND_FRESH_SECONDS,
            lambda: self._listed(instance_type, region),
        )

    def spot(self, instance_type: str, availability_zone: str, at: str) -> Decimal | None:
        """The price at the full hour before `at`, so that a retry gets the same one, and jobs of an hour share it.

        Unknown in regions where this deployment has no runners: their EC2 isn't called.
        """
        region = region_of(availability_zone)
        if region is None or region not in self._regions:
            return None
        hour = at[: len("2025-01-15T10")] + ":00:00.000Z"
        return self._remembered(
            (instance_type, "spot", availability_zone, hour),
            SPOT_FRESH_SECONDS,
            lambda: self._charged(self._ec2(region), instance_type, availability_zone, hour),
        )

    def _remembered(
        self, what: tuple[str, ...], fresh_seconds: float, ask: Callable[[], Decimal | None]
    ) -> Decimal | None:
        now = self._clock()
        known = self._answers.get(what)
        if known is None or known.until <= now:
            known = self._answer(what, fresh_seconds, ask)
            self._answers = {each: kept for each, kept in self._answers.items() if kept.until > now} | {what: known}
        if known.trouble:
            raise known.trouble
        return known.price

    def _answer(self, what: tuple[str, ...], fresh_seconds: float, ask: Callable[[], Decimal | None]) -> _Answer:
        now = self._clock()
        try:
            price = self._asked(what, ask)
        except UnavailableError as trouble:
            return _Answer(price=None, until=now + TROUBLE_FRESH_SECONDS, trouble=trouble)
        return _Answer(price=price, until=now + (UNKNOWN_FRESH_SECONDS if price is None else fresh_seconds))

    def _asked(self, what: tuple[str, ...], ask: Callable[[], Decimal | None]) -> Decimal | None:
        try:
            with reaching("prices"):
                return ask()
        except (ClientError, *UNREADABLE) as problem:
            self._warn(f"the price of {' '.join(what)} is unknown: {problem!r}")
            return None

    def _listed(self, instance_type: str, region: str) -> Decimal | None:
        wanted = {
            "instanceType": instance_type,
            "regionCode": region,
            "operatingSystem": "Linux",
            "tenancy": "Shared",
            "preInstalledSw": "NA",
            "capacitystatus": "Used",
        }
        pages = self._pricing.get_paginator("get_products").paginate(
            ServiceCode="AmazonEC2",
            FormatVersion="aws_v1",
            Filters=[{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in wanted.items()],
        )
        listed = {price for page in pages for product in page["PriceList"] for price in _hourly(product)}
        if len(listed) > 1:
            raise ValueError(f"AWS lists {len(listed)} prices, and none is certain")
        return next(iter(listed), None)

    def _charged(self, ec2: Any, instance_type: str, availability_zone: str, hour: str) -> Decimal | None:
        moment = datetime.fromisoformat(hour)
        pages = ec2.get_paginator("describe_spot_price_history").paginate(
            InstanceTypes=[instance_type],
            AvailabilityZone=availability_zone,
            ProductDescriptions=["Linux/UNIX"],
            # An empty span brings the last change before it, which is the price in force.
            StartTime=moment,
            EndTime=moment,
        )
        changes = [change for page in pages for change in page["SpotPriceHistory"] if change["Timestamp"] <= moment]
        newest = max(changes, key=lambda change: change["Timestamp"], default=None)
        return _price(newest["SpotPrice"]) if newest else None


def _hourly(product: str) -> Iterator[Decimal]:
    """A price of 0 is skipped: such an offer is paid for in another way, for example as a capacity block."""
    for term in json.loads(product)["terms"].get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            if dimension["unit"] == "Hrs" and (price := _price(dimension["pricePerUnit"].get("USD", "0"))):
                yield price


def _price(text: str) -> Decimal | None:
    price = Decimal(text)
    return _plain(price) if price.is_finite() and price > 0 else None


def _plain(amount: Decimal) -> Decimal:
    """Without trailing zeros, as DynamoDB returns it, so that written and read prices compare equal as text."""
    return amount.quantize(Decimal(1)) if amount == amount.to_integral_value() else amount.normalize()
