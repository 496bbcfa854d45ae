"""A machine's lives, assignments and the messages to its jobs, from occurrences in any order."""

from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from runledger.model.inputs import Receipt
from runledger.model.keys import JobKey
from runledger.model.runner import RunnerStatus
from runledger.runners.job_updates import JobUpdates
from runledger.runners.machine_messages import description, messages

from tests.domain.machines import (
    MACHINE,
    OWNER,
    clock,
    ended,
    fact,
    in_any_order,
    messages_of,
    plan,
    runner,
    started,
    warned,
)


def test_the_earliest_end_of_a_life_counts() -> None:
    known = in_any_order(started(1), ended(9, "terminated"), ended(7, "shutting-down"))
    assert (known.status, known.terminated_at, known.terminated_reason) == (
        RunnerStatus.CLEANED,
        clock(7),
        "shutting-down",
    )


def test_a_start_after_an_end_begins_a_new_life() -> None:
    known = in_any_order(started(1), warned(5), ended(7, "stopping"), started(30))
    assert (known.status, known.attached_at) == (RunnerStatus.ACTIVE, clock(30))
    assert (known.interrupted_at, known.terminated_at, known.terminated_reason) == (None, None, None)


def test_a_second_start_without_an_end_is_the_same_life() -> None:
    assert in_any_order(started(1), started(3)).attached_at == clock(1)


def test_a_new_life_ends_the_suspicion_and_the_lease_of_the_old_one() -> None:
    old = replace(runner(ended(7)), suspected_at=clock(8), suspected_reason="no_job", cleaning_since=clock(9))
    new = replace(old, cleaning_owner="a pass").after(started(30))
    assert (new.status, new.suspected_at, new.suspected_reason) == (RunnerStatus.ACTIVE, None, None)
    assert (new.cleaning_owner, new.cleaning_since) == (None, None)


def test_a_machine_found_gone_is_cleaning_until_its_jobs_are_updated() -> None:
    known = replace(runner(plan(1, 1)), status=RunnerStatus.CLEANING).ending(ended(9))
    assert (known.status, known.after(warned(5)).status) == (RunnerStatus.CLEANING, RunnerStatus.CLEANING)
    assert (known.cleaned().status, known.after(ended(8)).status) == (RunnerStatus.CLEANED, RunnerStatus.CLEANING)


def test_a_job_gets_messages_of_its_own_life_only() -> None:
    known = in_any_order(plan(1, 1), ended(12), plan(2, 30), started(31), ended(50))
    assert messages_of(known, 1) == [("runner_terminated", clock(12))]
    assert messages_of(known, 2) == [("runner_attached", clock(31)), ("runner_terminated", clock(50))]


def test_a_job_gets_no_message_older_than_its_assignment() -> None:
    known = in_any_order(started(1), warned(4), fact(1, 5))
    assert messages_of(known, 1) == []
    assert known.interrupted_at == clock(4)


def test_a_job_on_a_machine_that_has_ended_waits_for_its_next_life() -> None:
    known = in_any_order(started(1), ended(5, "stopping"), ended(7, "stopped"), plan(1, 6))
    assert messages_of(known, 1) == []
    assert (known.job_id, known.status) == (1, RunnerStatus.CLEANED)


def test_a_runner_that_takes_another_job_is_lost_to_the_job_that_it_was_launched_for() -> None:
    known = in_any_order(plan(1, 1), fact(2, 3), warned(5))
    assert (known.job_id, known.intended_job_id, known.taken_at) == (2, 1, clock(3))
    assert messages_of(known, 1)[0] == ("runner_taken", clock(3))
    assert messages_of(known, 2) == [("runner_interrupted", clock(5))]


def test_jobs_that_are_scheduled_on_one_machine_reuse_it() -> None:
    known = in_any_order(plan(1, 1), plan(2, 20), fact(2, 21), ended(30))
    assert (known.job_id, known.intended_job_id, known.taken_at) == (2, 2, None)
    assert messages_of(known, 2) == [("runner_terminated", clock(30))]
    assert messages_of(known, 1) == [("runner_attached", clock(21)), ("runner_terminated", clock(30))]


def test_a_lost_plan_is_returned_if_the_other_job_has_a_plan_or_a_life_of_its_own() -> None:
    for other in (plan(2, 2), ended(2)):
        known = in_any_order(*(plan(1, 1, pool_name="small"), fact(2, 3), started(3), other))
        returned = next(messages(known, JobKey(OWNER, 1)))
        assert (returned.returns, returned.releases, returned.facts.pool_name) == (MACHINE, None, "small")


def test_a_warning_after_the_end_is_about_a_later_life() -> None:
    known = in_any_order(plan(1, 1), ended(9, "stopping"), warned(15))
    assert (known.interrupted_at, messages_of(known, 1)) == (None, [("runner_terminated", clock(9))])


def test_a_runner_is_as_old_as_its_first_input_even_if_that_is_no_longer_kept() -> None:
    assert in_any_order(plan(1, 1), plan(1, 5)).created_at == clock(1)
    assert in_any_order(plan(1, 7), started(3), ended(9)).created_at == clock(3)
    assert in_any_order(fact(1, 2), started(3)).created_at == clock(2)


def test_a_late_fact_of_an_earlier_job_does_not_take_the_machine_back() -> None:
    assert in_any_order(plan(1, 1), plan(2, 20), fact(1, 3)).job_id == 2


def test_a_job_on_a_machine_of_another_plan_gets_its_facts_completed_by_those_of_aws() -> None:
    price = Decimal("0.03")
    launcher = plan(1, 1, pool_name="small", price_per_hour=price)
    known = in_any_order(launcher, fact(2, 3, pool_name="tagged", instance_type="m7g.large", launched_at=clock(0)))
    found = description(known, JobKey(OWNER, 2))
    assert found is not None
    assert (found.facts.pool_name, found.facts.price_per_hour) == ("small", price)
    assert (found.facts.instance_type, found.facts.scheduled_at) == ("m7g.large", clock(3))


def test_a_jobs_own_plan_describes_its_machine_completely() -> None:
    known = in_any_order(plan(1, 1, pool_name="small"), fact(1, 3, pool_name="tagged", instance_type="m7g.large"))
    found = description(known, JobKey(OWNER, 1))
    assert found is not None
    assert (found.facts.pool_name, found.facts.instance_type, found.facts.scheduled_at) == ("small", None, clock(1))


def test_messages_with_other_facts_have_other_ids() -> None:
    """A function that lost a race would otherwise replace the history event of the one that won it."""

    def id_of(instance_type: str, price: str) -> str:
        known = runner(fact(1, 3, instance_type=instance_type, price_per_hour=Decimal(price)))
        found = description(known, JobKey(OWNER, 1))
        assert found is not None
        return found.delivery_id

    assert id_of("m7g.large", "0.10") != id_of("t4g.small", "0.10")
    assert id_of("m7g.large", "0.10") == id_of("m7g.large", "0.1")  # as DynamoDB returns it


@pytest.mark.parametrize(("launched", "scheduled"), [(1, 1), (None, 3), (9, 3)])
def test_without_a_plan_a_job_was_scheduled_when_its_machine_was_launched(launched: int | None, scheduled: int) -> None:
    """A launch of a later life doesn't count."""
    known = runner(fact(1, 3, launched_at=clock(launched) if launched is not None else None))
    found = description(known, JobKey(OWNER, 1))
    assert found is not None
    assert found.facts.scheduled_at == clock(scheduled)


def test_all_jobs_are_described_before_the_machine_is_read_again() -> None:
    known = runner(fact(1, 3), fact(2, 5))
    steps: list[Any] = []

    def record(receipt: Receipt) -> Any:
        is_news = receipt.job_id not in steps
        steps.append(receipt.job_id)
        return SimpleNamespace(is_news=is_news)

    table: Any = SimpleNamespace(get=lambda _: steps.append("read"))
    updates = JobUpdates(table=table, record=record, undo_unsaved=lambda _: None)
    updates.describe(known, [JobKey(OWNER, 1), JobKey(OWNER, 2)])
    assert steps == [1, 2, "read", 1, 2]
