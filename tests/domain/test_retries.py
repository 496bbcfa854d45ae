"""What intake puts on the retry queue is what the retry takes out."""

import pytest
from runledger import retries

from tests.webhooks import LIFE, receipt


@pytest.mark.parametrize("step", LIFE)
def test_a_receipt_survives_the_queue_unchanged(step: str) -> None:
    before = receipt(step)
    assert retries.from_message(retries.to_message(before)) == before


def test_the_largest_receipt_fits_into_a_message() -> None:
    huge = receipt("queued", labels=["\N{PILE OF POO}" * 1000] * 100, name="\N{PILE OF POO}" * 1000)
    assert len(retries.to_message(huge).encode()) < 256 * 1024
