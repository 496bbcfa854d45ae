"""Hourly prices of EC2 instances in dollars, as AWS publishes them. An unknown price is None, never 0.

A Fargate task has no instance type and is billed by CPU and memory: its price is known only if its launcher reports it.
"""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from botocore.exceptions import ClientError

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.errors import UnavailableError
from runledger.model.inputs import Lifecycle
from runledger.model.money import plain
from runledger.model.places import region_of
from runledger.model.prices import Price, PriceQuery
from runledger.platform.availability import translate_errors

ON_DEMAND_FRESH_SECONDS = float(times.SECONDS_PER_DAY)
SPOT_FRESH_SECONDS = float(times.SECONDS_PER_HOUR)
# Short, because a new instance type or permission may add the price. Long enough to avoid a call for each job.
UNKNOWN_FRESH_SECONDS = 300.0
# After a failed call: other jobs must not wait for the same timeout.
FAILURE_FRESH_SECONDS = 60.0

# Raised while reading a response that doesn't have the documented format.
UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _CachedPrice:
    price: Decimal | None
    until: float
    error: UnavailableError | None = None


class Prices:
    """If AWS rejects a request, that is logged and the price is unknown. A temporary failure is part of the result."""

    def __init__(
        self,
        ec2: Callable[[str], Any],
        pricing: Any,
        *,
        regions: Sequence[str],
        clock: Callable[[], float],
        warn: Callable[[str], None] = _log.warning,
        on_deferred: Callable[[UnavailableError], None] = lambda _: None,
    ) -> None:
        """`ec2` returns the client of one of `regions`. An instance without an availability zone is priced in
        the first.

        `pricing` exists in few regions, for example us-east-1, and has the prices of all regions.
        """
        self._ec2 = ec2
        self._pricing = pricing
        self._regions = regions
        self._clock = clock
        self._warn = warn
        self._on_deferred = on_deferred
        self._cache: dict[tuple[str, ...], _CachedPrice] = {}

    def find(self, query: PriceQuery) -> Price:
        """Never raises, because a job's machine is recorded even without its price. A failure is part of the result."""
        try:
            return self._complete(query)
        except UnavailableError as error:
            self._warn(f"the price of {query.instance_type} is unknown: {error}")
            self._on_deferred(error)
            return replace(query.reported, error=str(error))

    def _complete(self, query: PriceQuery) -> Price:
        """A spot instance also gets its on-demand price, to compute the saving."""
        reported, instance_type = query.reported, query.instance_type
        if instance_type is None:
            return reported
        return Price(
            per_hour=reported.per_hour or self._own_price(instance_type, query),
            on_demand_per_hour=reported.on_demand_per_hour or self.on_demand(instance_type, query.availability_zone),
        )

    def _own_price(self, instance_type: str, query: PriceQuery) -> Decimal | None:
        match query.instance_lifecycle, query.availability_zone:
            case Lifecycle.ON_DEMAND, zone:
                return self.on_demand(instance_type, zone)
            case Lifecycle.SPOT, str(zone):
                return self.spot(instance_type, zone, query.at)
        return None

    def on_demand(self, instance_type: str, availability_zone: str | None = None) -> Decimal | None:
        region = region_of(availability_zone) or self._regions[0]
        return self._cached(
            (instance_type, Lifecycle.ON_DEMAND, region),
            ON_DEMAND_FRESH_SECONDS,
            lambda: self._list_price(instance_type, region),
        )

    def spot(self, instance_type: str, availability_zone: str, at: str) -> Decimal | None:
        """The price at the full hour before `at`, so that retries, and all jobs of an hour, get the same price.

        Unknown in regions where this deployment has no runners: EC2 isn't called there.
        """
        region = region_of(availability_zone)
        if region is None or region not in self._regions:
            return None
        hour = f"{times.hour_of(at)}:00:00.000Z"
        return self._cached(
            (instance_type, Lifecycle.SPOT, availability_zone, hour),
            SPOT_FRESH_SECONDS,
            lambda: self._spot_price(self._ec2(region), instance_type, availability_zone, hour),
        )

    def _cached(
        self, key: tuple[str, ...], fresh_seconds: float, fetch: Callable[[], Decimal | None]
    ) -> Decimal | None:
        now = self._clock()
        cached = self._cache.get(key)
        if cached is None or cached.until <= now:
            cached = self._fetch(key, fresh_seconds, fetch)
            self._cache = {each: kept for each, kept in self._cache.items() if kept.until > now} | {key: cached}
        if cached.error:
            raise cached.error
        return cached.price

    def _fetch(self, key: tuple[str, ...], fresh_seconds: float, fetch: Callable[[], Decimal | None]) -> _CachedPrice:
        now = self._clock()
        try:
            with translate_errors("prices"):
                price = fetch()
        except UnavailableError as error:
            return _CachedPrice(price=None, until=now + FAILURE_FRESH_SECONDS, error=error)
        except (ClientError, *UNREADABLE) as problem:
            self._warn(f"the price of {' '.join(key)} is unknown: {problem!r}")
            price = None
        return _CachedPrice(price=price, until=now + (UNKNOWN_FRESH_SECONDS if price is None else fresh_seconds))

    def _list_price(self, instance_type: str, region: str) -> Decimal | None:
        query = {
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
            Filters=[{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in query.items()],
        )
        listed = {price for page in pages for product in page["PriceList"] for price in _hourly(product)}
        if len(listed) > 1:
            raise ValueError(f"AWS lists {len(listed)} different prices")
        return next(iter(listed), None)

    def _spot_price(self, ec2: Any, instance_type: str, availability_zone: str, hour: str) -> Decimal | None:
        moment = datetime.fromisoformat(hour)
        pages = ec2.get_paginator("describe_spot_price_history").paginate(
            InstanceTypes=[instance_type],
            AvailabilityZone=availability_zone,
            ProductDescriptions=["Linux/UNIX"],
            # For an empty time span, EC2 returns the last change before it: the current price.
            StartTime=moment,
            EndTime=moment,
        )
        changes = [change for page in pages for change in page["SpotPriceHistory"] if change["Timestamp"] <= moment]
        newest = max(changes, key=lambda change: change["Timestamp"], default=None)
        return _price(newest["SpotPrice"]) if newest else None


def _hourly(product: str) -> Iterator[Decimal]:
    """Skips prices of 0, which are offers with another form of payment, for example capacity blocks."""
    for term in json.loads(product)["terms"].get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            if dimension["unit"] == "Hrs" and (price := _price(dimension["pricePerUnit"].get("USD", "0"))):
                yield price


def _price(text: str) -> Decimal | None:
    price = Decimal(text)
    return plain(price) if price.is_finite() and price > 0 else None
