"""A price is AWS's own or unknown; it is never invented."""

from datetime import datetime
from decimal import Decimal
from typing import Any

import boto3
import pytest
from moto import mock_aws
from runledger.model.prices import Price, PriceQuery
from runledger.runners.prices import Prices

from tests.aws.canned_prices import AT, HOUR, TYPE, ZONE, Desk, on_demand, spot
from tests.aws.price_lists import product, with_terms
from tests.support.beds import KEEP_SESSION


def test_the_listed_price_of_a_shared_linux_instance_in_the_region(desk: Desk) -> None:
    asked = {
        "instanceType": TYPE,
        "regionCode": "af-south-1",
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
    }
    desk.list(
        product("0.4680000000"),
        expected={
            "ServiceCode": "AmazonEC2",
            "FormatVersion": "aws_v1",
            "Filters": [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in asked.items()],
        },
    )
    assert str(on_demand(desk.prices)) == "0.468"


def test_a_product_listed_at_nothing_is_passed_over(desk: Desk) -> None:
    desk.list(product("0.0000000000"), product("0.468"))
    assert on_demand(desk.prices) == Decimal("0.468")


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
def test_what_is_not_listed_in_dollars_by_the_hour_is_unknown(desk: Desk, products: list[str]) -> None:
    desk.list(*products)
    assert on_demand(desk.prices) is None
    assert desk.warnings == []


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
def test_a_price_list_that_cannot_be_read_for_certain_is_warned_of_and_unknown(desk: Desk, products: list[str]) -> None:
    desk.list(*products)
    assert on_demand(desk.prices) is None
    assert [warning.partition(":")[0] for warning in desk.warnings] == [
        f"the price of {TYPE} on-demand af-south-1 is unknown"
    ]


def test_the_spot_price_in_force_at_the_full_hour(desk: Desk) -> None:
    desk.charge(
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
    assert str(spot(desk.prices)) == "0.13"


def test_jobs_of_one_hour_share_a_spot_price_and_those_of_another_have_their_own(desk: Desk) -> None:
    desk.charge((HOUR, "0.1"))
    desk.charge((HOUR.replace(hour=8), "0.2"))
    asked = [desk.prices.spot(TYPE, ZONE, f"2025-01-15T{time}.000Z") for time in ("10:59:59", "10:00:00", "09:59:59")]
    assert asked == [Decimal("0.1"), Decimal("0.1"), Decimal("0.2")]


@pytest.mark.parametrize(
    "changes", [[], [(HOUR.replace(minute=1), "0.1")], [(HOUR, "0.000000")], [(HOUR.replace(hour=9), "1"), (HOUR, "0")]]
)
def test_a_spot_price_that_was_not_in_force_yet_or_is_nothing_is_unknown(
    desk: Desk, changes: list[tuple[datetime, str]]
) -> None:
    desk.charge(*changes)
    assert spot(desk.prices) is None
    assert desk.warnings == []


def test_a_spot_price_that_cannot_be_read_is_unknown(desk: Desk) -> None:
    desk.charge((HOUR, "cheap"))
    assert spot(desk.prices) is None
    assert len(desk.warnings) == 1


def test_later_pages_of_the_history_count(desk: Desk) -> None:
    older, newer = HOUR.replace(hour=7), HOUR.replace(hour=8)
    for token, at, price in (("more", older, "0.1"), ("", newer, "0.2")):
        page = {"NextToken": token, "SpotPriceHistory": [{"Timestamp": at, "SpotPrice": price}]}
        desk.stubs.answer("ec2", "describe_spot_price_history", page)
    assert spot(desk.prices) == Decimal("0.2")


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
    desk: Desk, lifecycle: str | None, zone: str | None, expected: Decimal | None
) -> None:
    desk.list(product("0.4"))
    wanted = PriceQuery(instance_type=TYPE, instance_lifecycle=lifecycle, availability_zone=zone, at=AT)
    assert desk.prices.find(wanted) == Price(per_hour=expected, on_demand_per_hour=Decimal("0.4"))


def test_a_spot_instance_has_its_own_price_beside_that_which_it_saves(desk: Desk) -> None:
    desk.list(product("0.4"))
    desk.charge((HOUR, "0.1"))
    wanted = PriceQuery(instance_type=TYPE, instance_lifecycle="spot", availability_zone=ZONE, at=AT)
    assert desk.prices.find(wanted) == Price(per_hour=Decimal("0.1"), on_demand_per_hour=Decimal("0.4"))


def test_a_task_on_fargate_has_no_price_and_none_is_asked_for(desk: Desk) -> None:
    wanted = PriceQuery(instance_type=None, instance_lifecycle="spot", availability_zone=ZONE, at=AT)
    assert desk.prices.find(wanted) == Price()


def reported(lifecycle: str, **prices: Any) -> PriceQuery:
    about = {"instance_type": TYPE, "instance_lifecycle": lifecycle, "availability_zone": ZONE, "at": AT}
    return PriceQuery(**about, reported=Price(**prices))


@pytest.mark.parametrize("lifecycle", ["on-demand", "spot"])
def test_aws_is_not_asked_for_prices_that_the_launcher_reported(desk: Desk, lifecycle: str) -> None:
    query = reported(lifecycle, per_hour=Decimal("0.3"), on_demand_per_hour=Decimal("0.5"))
    assert desk.prices.find(query) == query.reported


def test_only_the_list_price_is_asked_for_if_the_launcher_reported_the_spot_price(desk: Desk) -> None:
    desk.list(product("0.4"))
    found = desk.prices.find(reported("spot", per_hour=Decimal("0.3")))
    assert found == Price(per_hour=Decimal("0.3"), on_demand_per_hour=Decimal("0.4"))


def test_only_the_spot_price_is_asked_for_if_the_launcher_reported_the_on_demand_price(desk: Desk) -> None:
    desk.charge((HOUR, "0.1"))
    found = desk.prices.find(reported("spot", on_demand_per_hour=Decimal("0.5")))
    assert found == Price(per_hour=Decimal("0.1"), on_demand_per_hour=Decimal("0.5"))


def test_a_reported_price_counts_although_aws_fails_to_answer_for_the_other(desk: Desk) -> None:
    desk.stubs.refuse("pricing", "get_products", "ThrottlingException")
    found = desk.prices.find(reported("spot", per_hour=Decimal("0.3")))
    assert (found.per_hour, found.on_demand_per_hour) == (Decimal("0.3"), None)
    assert found.error


def test_the_reported_price_of_a_task_on_fargate_counts(desk: Desk) -> None:
    price = Price(per_hour=Decimal("0.3"))
    query = PriceQuery(instance_type=None, instance_lifecycle="spot", availability_zone=ZONE, at=AT, reported=price)
    assert desk.prices.find(query) == price


@mock_aws(config=KEEP_SESSION)
def test_a_spot_price_of_an_emulated_ec2() -> None:
    ec2: Any = boto3.client("ec2", "us-east-1")
    prices = Prices(lambda _: ec2, None, regions=("us-east-1",), clock=lambda: 0.0)
    assert prices.spot("m5.large", "us-east-1a", AT) == Decimal("0.00001")
