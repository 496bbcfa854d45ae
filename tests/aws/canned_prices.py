"""Prices with canned responses of AWS."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from runledger.runners.prices import Prices

from tests.aws.stubs import Stubs

TYPE, ZONE, AT = "c5ad.2xlarge", "af-south-1a", "2025-01-15T10:20:30.400Z"
HOUR = datetime(2025, 1, 15, 10, tzinfo=UTC)


@dataclass
class PriceScene:
    """`Prices` with a manual clock and recorded warnings."""

    stubs: Stubs
    now: float = 0.0
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.prices = Prices(
            lambda _: self.stubs.client("ec2"),
            self.stubs.client("pricing"),
            regions=("af-south-1",),
            clock=lambda: self.now,
            warn=self.warnings.append,
        )

    def list(self, *products: str, **more: Any) -> None:
        self.stubs.respond("pricing", "get_products", {"FormatVersion": "aws_v1", "PriceList": list(products)}, **more)

    def charge(self, *changes: tuple[datetime, str], **more: Any) -> None:
        history = [{"Timestamp": at, "SpotPrice": price} for at, price in changes]
        self.stubs.respond("ec2", "describe_spot_price_history", {"SpotPriceHistory": history}, **more)


Lookup = Callable[[Prices], Decimal | None]


def on_demand(prices: Prices) -> Decimal | None:
    return prices.on_demand(TYPE)


def spot(prices: Prices) -> Decimal | None:
    return prices.spot(TYPE, ZONE, AT)
