"""What a job has cost, from its seconds and the price of its instance."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runledger.model.money import dollars
from runledger.tables.attributes import from_attributes, to_attributes


@pytest.mark.parametrize(
    ("seconds", "dollars_per_hour", "expected"),
    [
        (0, "0.34", "0"),
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


@given(
    seconds=st.integers(min_value=0, max_value=35 * 86_400),
    dollars_per_hour=st.decimals(min_value="0.0001", max_value="500", places=6),
)
def test_a_cost_is_read_from_dynamodb_as_it_was_written(seconds: int, dollars_per_hour: Decimal) -> None:
    cost = dollars(seconds, dollars_per_hour)
    written = to_attributes({"usage_in_dollars": cost})
    assert "E" not in written["usage_in_dollars"]["N"]
    assert str(from_attributes(written)["usage_in_dollars"]) == str(cost)
