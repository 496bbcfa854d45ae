"""Prices are requested rarely, and an error of AWS never keeps a job from being recorded."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from runledger.model.errors import UnavailableError
from runledger.model.prices import Price, PriceQuery
from runledger.runners.prices import FAILURE_FRESH_SECONDS, Prices

from tests.aws.canned_prices import AT, HOUR, TYPE, Ask, Desk, on_demand, spot
from tests.aws.price_lists import product

DAY_SECONDS = 86_400.0
CALLS = [(on_demand, "pricing", "get_products"), (spot, "ec2", "describe_spot_price_history")]


def test_a_known_on_demand_price_is_asked_for_once_a_day(desk: Desk) -> None:
    desk.list(product("0.4"))
    assert on_demand(desk.prices) == Decimal("0.4")
    desk.now = DAY_SECONDS - 1
    assert on_demand(desk.prices) == Decimal("0.4")
    desk.list(product("0.5"))
    desk.now = DAY_SECONDS
    assert on_demand(desk.prices) == Decimal("0.5")


def test_a_known_spot_price_is_asked_for_once_an_hour(desk: Desk) -> None:
    desk.charge((HOUR, "0.1"))
    for desk.now in (0.0, 3599.0):
        assert spot(desk.prices) == Decimal("0.1")
    desk.charge((HOUR, "0.1"))
    desk.now = 3600.0
    assert spot(desk.prices) == Decimal("0.1")


def test_an_unknown_price_is_asked_for_again_soon_but_not_at_once(desk: Desk) -> None:
    desk.list()
    for desk.now in (0.0, 299.0):
        assert on_demand(desk.prices) is None
    desk.list(product("0.4"))
    desk.now = 300.0
    assert on_demand(desk.prices) == Decimal("0.4")


@pytest.mark.parametrize(("ask", "service", "call"), CALLS)
@pytest.mark.parametrize("code", ["AccessDeniedException", "UnauthorizedOperation", "InvalidParameterValue"])
def test_a_permanent_error_is_logged_once_and_the_price_is_unknown(
    desk: Desk, ask: Ask, service: str, call: str, code: str
) -> None:
    desk.stubs.refuse(service, call, code)
    assert [ask(desk.prices), ask(desk.prices)] == [None, None]
    assert len(desk.warnings) == 1
    assert code in desk.warnings[0]


@pytest.mark.parametrize(("ask", "service", "call"), CALLS)
@pytest.mark.parametrize("code", ["ThrottlingException", "RequestLimitExceeded"])
def test_a_temporary_error_is_recognised_and_cached_for_a_minute_only(
    desk: Desk, ask: Ask, service: str, call: str, code: str
) -> None:
    desk.stubs.refuse(service, call, code)
    with pytest.raises(UnavailableError, match="prices: .*" + code):
        ask(desk.prices)
    desk.now += FAILURE_FRESH_SECONDS
    desk.stubs.refuse(service, call, "AccessDenied")
    assert ask(desk.prices) is None


def test_an_unreachable_price_service_is_a_transient_error() -> None:
    class Unreachable:
        def get_paginator(self, _: str) -> None:
            raise EndpointConnectionError(endpoint_url="https://api.pricing")

    prices = Prices(lambda _: Unreachable(), Unreachable(), regions=("af-south-1",), clock=lambda: 0.0)
    with pytest.raises(UnavailableError):
        prices.on_demand(TYPE)


def test_a_job_is_recorded_without_a_price_rather_than_later(desk: Desk) -> None:
    desk.stubs.refuse("pricing", "get_products", "ThrottlingException")
    wanted = PriceQuery(
        instance_type=TYPE, instance_lifecycle="on-demand", availability_zone=None, at="2025-01-15T10:00:00.000Z"
    )
    found = desk.prices.find(wanted)
    assert (found.per_hour, found.on_demand_per_hour) == (None, None)
    assert "ThrottlingException" in str(found.error)
    assert "ThrottlingException" in desk.warnings[0]


def test_after_a_time_out_other_jobs_do_not_wait_for_a_minute_and_later_ones_ask_again(desk: Desk) -> None:
    wanted = PriceQuery(instance_type=TYPE, instance_lifecycle="on-demand", availability_zone=None, at=AT)
    desk.stubs.refuse("pricing", "get_products", "ThrottlingException")
    assert desk.prices.find(wanted).error
    assert desk.prices.find(wanted).error  # from memory: the stub expects one call
    desk.now += FAILURE_FRESH_SECONDS
    desk.list(product("0.4"))
    assert desk.prices.find(wanted) == Price(per_hour=Decimal("0.4"), on_demand_per_hour=Decimal("0.4"))


def test_a_price_that_must_wait_is_counted() -> None:
    def unreachable(_: str) -> None:
        raise EndpointConnectionError(endpoint_url="https://api.pricing")

    troubles: list[UnavailableError] = []
    pricing = SimpleNamespace(get_paginator=unreachable)
    prices = Prices(unreachable, pricing, regions=("af-south-1",), clock=lambda: 0.0, postponed=troubles.append)
    prices.find(PriceQuery(instance_type=TYPE, instance_lifecycle="on-demand", availability_zone=None, at=AT))
    assert len(troubles) == 1


def test_prices_are_those_of_the_machines_own_region() -> None:
    asked = []

    def ec2(region: str) -> Any:
        asked.append(region)
        raise EndpointConnectionError(endpoint_url=region)

    prices = Prices(ec2, None, regions=("us-east-1", "eu-west-1"), clock=lambda: 0.0)
    with pytest.raises(UnavailableError):
        prices.spot(TYPE, "eu-west-1b", AT)
    assert prices.spot(TYPE, "ap-southeast-2a", AT) is None  # no region of runners
    assert asked == ["eu-west-1"]
