"""Prices are requested rarely, and an error of AWS never keeps a job from being recorded."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from runledger.model.errors import UnavailableError
from runledger.model.prices import Price, PriceQuery
from runledger.runners.prices import FAILURE_FRESH_SECONDS, Prices

from tests.aws.canned_prices import AT, HOUR, TYPE, Lookup, PriceScene, on_demand, spot
from tests.aws.price_lists import product

DAY_SECONDS = 86_400.0
CALLS = [(on_demand, "pricing", "get_products"), (spot, "ec2", "describe_spot_price_history")]


def test_a_known_on_demand_price_is_looked_up_once_a_day(scene: PriceScene) -> None:
    scene.list(product("0.4"))
    assert on_demand(scene.prices) == Decimal("0.4")
    scene.now = DAY_SECONDS - 1
    assert on_demand(scene.prices) == Decimal("0.4")
    scene.list(product("0.5"))
    scene.now = DAY_SECONDS
    assert on_demand(scene.prices) == Decimal("0.5")


def test_a_known_spot_price_is_looked_up_once_an_hour(scene: PriceScene) -> None:
    scene.charge((HOUR, "0.1"))
    for scene.now in (0.0, 3599.0):
        assert spot(scene.prices) == Decimal("0.1")
    scene.charge((HOUR, "0.1"))
    scene.now = 3600.0
    assert spot(scene.prices) == Decimal("0.1")


def test_an_unknown_price_is_looked_up_again_soon_but_not_at_once(scene: PriceScene) -> None:
    scene.list()
    for scene.now in (0.0, 299.0):
        assert on_demand(scene.prices) is None
    scene.list(product("0.4"))
    scene.now = 300.0
    assert on_demand(scene.prices) == Decimal("0.4")


@pytest.mark.parametrize(("look_up", "service", "call"), CALLS)
@pytest.mark.parametrize("code", ["AccessDeniedException", "UnauthorizedOperation", "InvalidParameterValue"])
def test_a_permanent_error_is_logged_once_and_the_price_is_unknown(
    scene: PriceScene, look_up: Lookup, service: str, call: str, code: str
) -> None:
    scene.stubs.refuse(service, call, code)
    assert [look_up(scene.prices), look_up(scene.prices)] == [None, None]
    assert len(scene.warnings) == 1
    assert code in scene.warnings[0]


@pytest.mark.parametrize(("look_up", "service", "call"), CALLS)
@pytest.mark.parametrize("code", ["ThrottlingException", "RequestLimitExceeded"])
def test_a_temporary_error_is_recognised_and_cached_for_a_minute_only(
    scene: PriceScene, look_up: Lookup, service: str, call: str, code: str
) -> None:
    scene.stubs.refuse(service, call, code)
    with pytest.raises(UnavailableError, match="prices: .*" + code):
        look_up(scene.prices)
    scene.now += FAILURE_FRESH_SECONDS
    scene.stubs.refuse(service, call, "AccessDenied")
    assert look_up(scene.prices) is None


def test_an_unreachable_price_service_is_a_transient_error() -> None:
    class Unreachable:
        def get_paginator(self, _: str) -> None:
            raise EndpointConnectionError(endpoint_url="https://api.pricing")

    prices = Prices(lambda _: Unreachable(), Unreachable(), regions=("af-south-1",), clock=lambda: 0.0)
    with pytest.raises(UnavailableError):
        prices.on_demand(TYPE)


def test_a_job_is_recorded_without_a_price_rather_than_later(scene: PriceScene) -> None:
    scene.stubs.refuse("pricing", "get_products", "ThrottlingException")
    wanted = PriceQuery(
        instance_type=TYPE, instance_lifecycle="on-demand", availability_zone=None, at="2025-01-15T10:00:00.000Z"
    )
    found = scene.prices.find(wanted)
    assert (found.per_hour, found.on_demand_per_hour) == (None, None)
    assert "ThrottlingException" in str(found.error)
    assert "ThrottlingException" in scene.warnings[0]


def test_after_a_time_out_other_jobs_do_not_wait_for_a_minute_and_later_ones_look_it_up_again(
    scene: PriceScene,
) -> None:
    wanted = PriceQuery(instance_type=TYPE, instance_lifecycle="on-demand", availability_zone=None, at=AT)
    scene.stubs.refuse("pricing", "get_products", "ThrottlingException")
    assert scene.prices.find(wanted).error
    assert scene.prices.find(wanted).error  # from memory: the stub expects one call
    scene.now += FAILURE_FRESH_SECONDS
    scene.list(product("0.4"))
    assert scene.prices.find(wanted) == Price(per_hour=Decimal("0.4"), on_demand_per_hour=Decimal("0.4"))


def test_a_price_that_must_wait_is_counted() -> None:
    def unreachable(_: str) -> None:
        raise EndpointConnectionError(endpoint_url="https://api.pricing")

    troubles: list[UnavailableError] = []
    pricing = SimpleNamespace(get_paginator=unreachable)
    prices = Prices(unreachable, pricing, regions=("af-south-1",), clock=lambda: 0.0, on_deferred=troubles.append)
    prices.find(PriceQuery(instance_type=TYPE, instance_lifecycle="on-demand", availability_zone=None, at=AT))
    assert len(troubles) == 1


def test_prices_are_those_of_the_machines_own_region() -> None:
    regions = []

    def ec2(region: str) -> Any:
        regions.append(region)
        raise EndpointConnectionError(endpoint_url=region)

    prices = Prices(ec2, None, regions=("us-east-1", "eu-west-1"), clock=lambda: 0.0)
    with pytest.raises(UnavailableError):
        prices.spot(TYPE, "eu-west-1b", AT)
    assert prices.spot(TYPE, "ap-southeast-2a", AT) is None  # no region of runners
    assert regions == ["eu-west-1"]
