"""Results of re-run checks, as they are stored on the run."""

import pytest
from runledger.model.runs import RerunOutcome, RerunResult


@pytest.mark.parametrize("outcome", RerunOutcome)
def test_a_result_is_read_as_it_was_stored(outcome: RerunOutcome) -> None:
    assert RerunResult.parse(str(RerunResult(outcome))) == RerunResult(outcome)


def test_the_reason_of_a_refusal_is_stored_and_read_with_it() -> None:
    refused = RerunResult(RerunOutcome.REFUSED, "POST /rerun: 422: not allowed")
    assert str(refused) == "refused: POST /rerun: 422: not allowed"
    assert RerunResult.parse(str(refused)) == refused


def test_a_result_of_another_release_requests_nothing() -> None:
    assert RerunResult.parse("postponed").outcome is RerunOutcome.REFUSED
