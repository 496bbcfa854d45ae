"""A price is AWS's own or unknown; it is never invented."""

from datetime import datetime
from decimal import Decimal
from typing import Any

import boto3
import pytest
from moto import mock_aws
from runledger.model.prices import Price, PriceQuery
from runledger.runners.prices import Prices

from tests.aws.canned_prices import AT, HOUR, TYPE, ZONE, PriceScene, on_demand, spot
from tests.aws.price_lists import product, with_terms
from tests.support.beds import KEEP_SESSION


def test_the_listed_price_of_a_shared_linux_instance_in_the_region_is_used(scene: PriceScene) -> None:
    filters = {
        "instanceType": TYPE,
        "regionCode": "af-south-1",
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
    }
    scene.list(
        product("0.4680000000"),
        expected={
            "ServiceCode": "AmazonEC2",
            "FormatVersion": "aws_v1",
            "Filters": [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in filters.items()],
        },
    )
    assert str(on_demand(scene.prices)) == "0.468"


def test_a_product_listed_at_nothing_is_passed_over(scene: PriceScene) -> None:
    scene.list(product("0.0000000000"), product("0.468"))
    assert on_demand(scene.prices) == Decimal("0.468")


@pytest.mark.parametrize(
    "products",
    [
        [],
        [product("0.0000000000")],
        [product("-1")],
        [product("NaN")],
        [product("Infinity")],
        [product("7.1", currency="CNY")],
        [product("7.1", unit="Quantity")],
        [with_terms({"Reserved": {}})],
    ],
)
def test_what_is_not_listed_in_dollars_by_the_hour_is_unknown(scene: PriceScene, products: list[str]) -> None:
    scene.list(*products)
    assert on_demand(scene.prices) is None
    assert scene.warnings == []


@pytest.mark.parametrize(
    "products",
    [
        ["not JSON"],
        ["[]"],
        ["null"],
        ["{}"],
        [with_terms(None)],
        [with_terms({"OnDemand": ["?"]})],
        [with_terms({"OnDemand": {"term": {}}})],
        [with_terms({"OnDemand": {"term": {"priceDimensions": {"dimension": {"unit": "Hrs", "pricePerUnit": 1}}}}})],
        [product("a lot")],
        [product("0.4"), product("0.5")],
    ],
)
def test_an_invalid_or_ambiguous_price_list_is_logged_and_the_price_is_unknown(
    scene: PriceScene, products: list[str]
) -> None:
    scene.list(*products)
    assert on_demand(scene.prices) is None
    assert [warning.partition(":")[0] for warning in scene.warnings] == [
        f"the price of {TYPE} on-demand af-south-1 is unknown"
    ]


def test_the_spot_price_in_force_at_the_full_hour_is_used(scene: PriceScene) -> None:
    scene.charge(
        (HOUR.replace(hour=7), "0.120000"),
        (HOUR, "0.130000"),
        (HOUR.replace(minute=10), "0.140000"),
        (HOUR.replace(hour=9), "0.150000"),
        expected={
            "InstanceTypes": [TYPE],
            "AvailabilityZone": ZONE,
            "ProductDescriptions": ["Linux/UNIX"],
            "StartTime": HOUR,
            "EndTime": HOUR,
        },
    )
    assert str(spot(scene.prices)) == "0.13"


def test_jobs_of_one_hour_share_a_spot_price_and_those_of_another_have_their_own(scene: PriceScene) -> None:
    scene.charge((HOUR, "0.1"))
    scene.charge((HOUR.replace(hour=8), "0.2"))
    found = [scene.prices.spot(TYPE, ZONE, f"2025-01-15T{time}.000Z") for time in ("10:59:59", "10:00:00", "09:59:59")]
    assert found == [Decimal("0.1"), Decimal("0.1"), Decimal("0.2")]


@pytest.mark.parametrize(
    "changes", [[], [(HOUR.replace(minute=1), "0.1")], [(HOUR, "0.000000")], [(HOUR.replace(hour=9), "1"), (HOUR, "0")]]
)
def test_a_spot_price_that_was_not_in_force_yet_or_is_nothing_is_unknown(
    scene: PriceScene, changes: list[tuple[datetime, str]]
) -> None:
    scene.charge(*changes)
    assert spot(scene.prices) is None
    assert scene.warnings == []


def test_a_spot_price_that_cannot_be_read_is_unknown(scene: PriceScene) -> None:
    scene.charge((HOUR, "cheap"))
    assert spot(scene.prices) is None
    assert len(scene.warnings) == 1


def test_later_pages_of_the_history_count(scene: PriceScene) -> None:
    older, newer = HOUR.replace(hour=7), HOUR.replace(hour=8)
    for token, at, price in (("more", older, "0.1"), ("", newer, "0.2")):
        page = {"NextToken": token, "SpotPriceHistory": [{"Timestamp": at, "SpotPrice": price}]}
        scene.stubs.respond("ec2", "describe_spot_price_history", page)
    assert spot(scene.prices) == Decimal("0.2")


@pytest.mark.parametrize(
    ("lifecycle", "zone", "expected"),
    [
        ("on-demand", ZONE, Decimal("0.4")),
        ("on-demand", None, Decimal("0.4")),
        ("spot", None, None),
        (None, ZONE, None),
    ],
)
def test_what_an_instance_costs_follows_from_how_it_is_paid(
    scene: PriceScene, lifecycle: str | None, zone: str | None, expected: Decimal | None
) -> None:
    scene.list(product("0.4"))
    wanted = PriceQuery(instance_type=TYPE, instance_lifecycle=lifecycle, availability_zone=zone, at=AT)
    assert scene.prices.find(wanted) == Price(per_hour=expected, on_demand_per_hour=Decimal("0.4"))


def test_a_spot_instance_has_its_own_price_beside_that_which_it_saves(scene: PriceScene) -> None:
    scene.list(product("0.4"))
    scene.charge((HOUR, "0.1"))
    wanted = PriceQuery(instance_type=TYPE, instance_lifecycle="spot", availability_zone=ZONE, at=AT)
    assert scene.prices.find(wanted) == Price(per_hour=Decimal("0.1"), on_demand_per_hour=Decimal("0.4"))


def test_a_task_on_fargate_has_no_price_and_none_is_looked_up(scene: PriceScene) -> None:
    wanted = PriceQuery(instance_type=None, instance_lifecycle="spot", availability_zone=ZONE, at=AT)
    assert scene.prices.find(wanted) == Price()


def reported(lifecycle: str, **prices: Any) -> PriceQuery:
    about = {"instance_type": TYPE, "instance_lifecycle": lifecycle, "availability_zone": ZONE, "at": AT}
    return PriceQuery(**about, reported=Price(**prices))


@pytest.mark.parametrize("lifecycle", ["on-demand", "spot"])
def test_aws_is_not_called_for_prices_that_the_launcher_reported(scene: PriceScene, lifecycle: str) -> None:
    query = reported(lifecycle, per_hour=Decimal("0.3"), on_demand_per_hour=Decimal("0.5"))
    assert scene.prices.find(query) == query.reported


def test_only_the_list_price_is_looked_up_if_the_launcher_reported_the_spot_price(scene: PriceScene) -> None:
    scene.list(product("0.4"))
    found = scene.prices.find(reported("spot", per_hour=Decimal("0.3")))
    assert found == Price(per_hour=Decimal("0.3"), on_demand_per_hour=Decimal("0.4"))


def test_only_the_spot_price_is_looked_up_if_the_launcher_reported_the_on_demand_price(scene: PriceScene) -> None:
    scene.charge((HOUR, "0.1"))
    found = scene.prices.find(reported("spot", on_demand_per_hour=Decimal("0.5")))
    assert found == Price(per_hour=Decimal("0.1"), on_demand_per_hour=Decimal("0.5"))


def test_a_reported_price_counts_although_aws_returns_an_error_for_the_other(scene: PriceScene) -> None:
    scene.stubs.refuse("pricing", "get_products", "ThrottlingException")
    found = scene.prices.find(reported("spot", per_hour=Decimal("0.3")))
    assert (found.per_hour, found.on_demand_per_hour) == (Decimal("0.3"), None)
    assert found.error


def test_the_reported_price_of_a_task_on_fargate_counts(scene: PriceScene) -> None:
    price = Price(per_hour=Decimal("0.3"))
    query = PriceQuery(instance_type=None, instance_lifecycle="spot", availability_zone=ZONE, at=AT, reported=price)
    assert scene.prices.find(query) == price


@mock_aws(config=KEEP_SESSION)
def test_the_spot_price_of_an_emulated_ec2_is_found() -> None:
    ec2: Any = boto3.client("ec2", "us-east-1")
    prices = Prices(lambda _: ec2, None, regions=("us-east-1",), clock=lambda: 0.0)
    assert prices.spot("m5.large", "us-east-1a", AT) == Decimal("0.00001")
