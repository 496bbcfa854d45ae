"""In any order of arrival, all events of a job end in the same job, and every receipt is a line of its history."""

import dataclasses
from collections.abc import Iterable
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runledger.model.inputs import Event, Receipt
from runledger.model.job import Job
from runledger.recording.decision import BOOKKEEPING, Outcome, decide

from tests.support.webhooks import LIFE, receipt


def play(receipts: Iterable[Receipt]) -> tuple[Job, list[Event]]:
    """What the ledger does, without tables."""
    job, history = None, {}
    for each in receipts:
        decision = decide(job, each)
        if decision.outcome is not Outcome.REPEATED:
            history[decision.event.timestamp, decision.event.event_type, decision.event.short_id] = decision.event
        job = decision.job
    assert job is not None
    return job, list(history.values())


def essence(job: Job) -> dict[str, object]:
    return {name: value for name, value in dataclasses.asdict(job).items() if name not in BOOKKEEPING}


def arrive(steps: Iterable[str]) -> list[Receipt]:
    """Received a second apart in this order; a step that comes again is a redelivery: same GUID, later."""
    return [receipt(step, at=second) for second, step in enumerate(steps)]


IN_ORDER = essence(play(arrive(LIFE))[0])


@pytest.mark.parametrize("order", list(permutations(LIFE)), ids="-".join)
def test_every_order_with_every_delivery_twice_ends_in_one_job(order: tuple[str, ...]) -> None:
    at_once = [step for step in order for _ in range(2)]
    at_the_end = [*order, *order]
    backwards = [*order, *reversed(order)]
    for steps in (order, at_once, at_the_end, backwards):
        job, history = play(arrive(steps))
        assert essence(job) == IN_ORDER
        assert len(history) == len(steps)
        assert sum(1 for event in history if event.duplicate) == len(steps) - len(LIFE)


@given(steps=st.lists(st.sampled_from(LIFE), max_size=20).flatmap(lambda more: st.permutations([*LIFE, *more])))
def test_any_interleaving_with_any_number_of_redeliveries_ends_in_that_job(steps: list[str]) -> None:
    job, history = play(arrive(steps))
    assert essence(job) == IN_ORDER
    assert len(history) == len(steps)


@given(order=st.permutations(LIFE), data=st.data())
def test_our_own_retries_add_nothing(order: list[str], data: st.DataObject) -> None:
    receipts = arrive(order)
    retried = [again for each in receipts for again in [each] * data.draw(st.integers(1, 3))]
    assert play(retried) == play(receipts)
