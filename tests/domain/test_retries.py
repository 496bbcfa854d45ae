"""What intake puts on the retry queue is what the retry takes out."""

from dataclasses import replace
from decimal import Decimal

import pytest
from runledger.model.inputs import Facts, Receipt
from runledger.webhooks import retry_queue

from tests.support.webhooks import LIFE, receipt


@pytest.mark.parametrize("step", LIFE)
def test_a_receipt_survives_the_queue_unchanged(step: str) -> None:
    before = receipt(step)
    assert retry_queue.from_message(retry_queue.to_message(before)) == before


def test_the_largest_receipt_fits_into_a_message() -> None:
    huge = receipt("queued", labels=["\N{PILE OF POO}" * 1000] * 100, name="\N{PILE OF POO}" * 1000)
    assert len(retry_queue.to_message(huge).encode()) < 256 * 1024


def test_a_price_survives_the_queue_as_a_decimal() -> None:
    before = replace(receipt("queued"), facts=Facts(price_per_hour=Decimal("2.50")))
    after = retry_queue.from_message(retry_queue.to_message(before))
    assert after == before
    assert isinstance(after, Receipt)
    assert isinstance(after.facts.price_per_hour, Decimal)
