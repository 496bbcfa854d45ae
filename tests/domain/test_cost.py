"""What a job has cost, from its seconds and the price of its instance."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runledger.model.inputs import Status
from runledger.model.job import Job
from runledger.model.money import dollars, saved
from runledger.tables.attributes import from_attributes, to_attributes


@pytest.mark.parametrize(
    ("seconds", "dollars_per_hour", "expected"),
    [
        (0, "0.34", "0.005667"),
        (1, "0.36", "0.006"),
        (59, "0.36", "0.006"),
        (60, "0.36", "0.006"),
        (61, "0.36", "0.0061"),
        (3600, "0.3400000000", "0.34"),
        (3600, "100", "100"),
        (7200, "1.5", "3"),
        (100, "0.0001", "0.000003"),
        (90, "0.00002", "0.000001"),
    ],
)
def test_a_job_is_billed_by_the_second_for_a_minute_at_least(
    seconds: int, dollars_per_hour: str, expected: str
) -> None:
    assert str(dollars(seconds, Decimal(dollars_per_hour))) == expected


def job(**about: Any) -> Job:
    """Ran from 10:00 to 11:00 for $2 an hour."""
    at = dict.fromkeys(("created_at", "received_at", "last_updated_at", "started_at"), "2025-01-15T10:00:00.000Z")
    known: dict[str, Any] = at | {"completed_at": "2025-01-15T11:00:00.000Z", "price_per_hour": Decimal(2)} | about
    found = Job(installation_id=1, job_id=1, status=Status.COMPLETED, **known)
    return replace(found, **found._derived())


def test_a_job_that_never_ran_costs_nothing() -> None:
    never = job(started_at=None, price_per_hour=None)
    assert (never.usage_in_seconds, never.usage_in_dollars, never.saved_in_dollars) == (0, Decimal(0), None)


def test_a_job_without_a_price_has_an_unknown_cost() -> None:
    assert (job(price_per_hour=None).usage_in_seconds, job(price_per_hour=None).usage_in_dollars) == (3600, None)


def test_a_machine_that_ends_without_an_event_is_charged_until_its_end() -> None:
    dead = job(terminated_at="2025-01-15T10:15:00.000Z", conclusion="failure")
    assert (dead.usage_in_seconds, dead.usage_in_dollars) == (900, Decimal("0.5"))
    late = job(terminated_at="2025-01-15T11:15:00.000Z")
    assert (late.usage_in_seconds, late.usage_in_dollars) == (3600, Decimal(2))


def test_a_job_on_another_machine_than_the_planned_one_has_no_cost_from_its_price() -> None:
    """GitHub names a machine that the ledger may not describe, for example because it has no tag of a runner."""
    spot = {"instance_lifecycle": "spot", "on_demand_price_per_hour": Decimal(3)}
    planned = {"instance_id": "i-0aaaaaaaaaaaaaaa1", **spot}
    elsewhere = job(runner_name="runner-i-0bbbbbbbbbbbbbbb2", **planned)
    assert (elsewhere.usage_in_seconds, elsewhere.usage_in_dollars, elsewhere.saved_in_dollars) == (3600, None, None)
    as_planned = job(runner_name="runner-i-0aaaaaaaaaaaaaaa1", **planned)
    assert (as_planned.usage_in_dollars, as_planned.saved_in_dollars) == (Decimal(2), Decimal(1))


def test_savings_may_be_negative_and_are_unknown_without_both_prices() -> None:
    assert saved(3600, paid=Decimal("0.5"), regular=Decimal("0.2")) == Decimal("-0.3")
    assert str(saved(3600, paid=Decimal("0.5"), regular=Decimal("0.5"))) == "0"
    assert saved(3600, paid=Decimal("0.5"), regular=None) is None


@given(
    seconds=st.integers(min_value=0, max_value=35 * 86_400),
    dollars_per_hour=st.decimals(min_value="0.0001", max_value="500", places=6),
)
def test_a_cost_is_read_from_dynamodb_as_it_was_written(seconds: int, dollars_per_hour: Decimal) -> None:
    cost = dollars(seconds, dollars_per_hour)
    written = to_attributes({"usage_in_dollars": cost})
    assert "E" not in written["usage_in_dollars"]["N"]
    assert str(from_attributes(written)["usage_in_dollars"]) == str(cost)
