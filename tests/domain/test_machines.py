"""A machine's lives, assignments and the messages to its jobs, from occurrences in any order."""

from dataclasses import replace
from decimal import Decimal
from itertools import permutations

import pytest
from runledger.model.assignments import (
    ASSIGNMENTS_KEPT,
    REPORTS_KEPT,
    Assignment,
    MachineFacts,
    Occurrence,
    OccurrenceKind,
)
from runledger.model.keys import JobKey
from runledger.model.ownership import Proof, owner_after
from runledger.model.runner import CLAIMS_KEPT, Runner, RunnerStatus
from runledger.runners.machine_messages import description, messages

OWNER, HOOK = 41, 0
MACHINE = "i-0abc1234def567890"


@pytest.mark.parametrize("proofs", list(permutations(Proof)))
def test_the_strongest_proof_for_an_owner_is_kept_in_any_order(proofs: tuple[Proof, ...]) -> None:
    runner = Runner(runner_id=MACHINE, created_at=clock(0))
    for proof in proofs:
        runner = runner.owned(**owner_after(runner, plan(1, 1), proof))
    assert runner.proven_by == Proof.EVENT


def test_a_limited_event_does_not_weaken_the_proof_of_a_tag() -> None:
    runner = Runner(runner_id=MACHINE, created_at=clock(0), installation_id=OWNER, proven_by=Proof.TAG)
    assert owner_after(runner, plan(1, 1), Proof.SCOPED_EVENT)["proven_by"] == Proof.TAG


def clock(minute: int) -> str:
    return f"2025-01-15T{10 + minute // 60}:{minute % 60:02}:00.000Z"


def happened(kind: OccurrenceKind, minute: int, reason: str = "") -> Occurrence:
    return Occurrence(clock(minute), kind, reason)


def started(minute: int) -> Occurrence:
    return happened(OccurrenceKind.STARTED, minute)


def ended(minute: int, reason: str = "terminated") -> Occurrence:
    return happened(OccurrenceKind.ENDED, minute, reason)


def warned(minute: int) -> Occurrence:
    return happened(OccurrenceKind.WARNED, minute)


def plan(job_id: int, minute: int, **facts: object) -> Assignment:
    machine = MachineFacts(**facts)  # type: ignore[arg-type]
    return Assignment(
        installation_id=OWNER,
        job_id=job_id,
        since=clock(minute),
        is_plan=True,
        repo_full_name="acme/web",
        machine=machine,
    )


def fact(
    job_id: int, minute: int, *, installation_id: int = OWNER, repo: str = "acme/web", **facts: object
) -> Assignment:
    machine = MachineFacts(**facts)  # type: ignore[arg-type]
    return Assignment(
        installation_id=installation_id,
        job_id=job_id,
        since=clock(minute),
        is_plan=False,
        repo_full_name=repo,
        machine=machine,
    )


def runner(*inputs: Occurrence | Assignment, owner: int | None = OWNER) -> Runner:
    known = Runner(runner_id=MACHINE, created_at=clock(600), installation_id=owner)
    for each in inputs:
        known = known.after(each) if isinstance(each, Occurrence) else known.assigned(each)
    return known


def in_any_order(*inputs: Occurrence | Assignment) -> Runner:
    ended_as = {repr(runner(*order)) for order in permutations(inputs)}
    assert len(ended_as) == 1
    return runner(*inputs)


def messages_of(known: Runner, job_id: int, installation_id: int = OWNER) -> list[tuple[str, str]]:
    return [(each.event_type.value, each.received_at) for each in messages(known, JobKey(installation_id, job_id))]


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
    assert (known.cleaned().status, known.after(ended(8)).status) == (RunnerStatus.CLEANED, RunnerStatus.CLEANED)


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


def test_of_two_claims_at_the_same_time_the_one_of_the_newer_job_counts() -> None:
    for order in permutations([fact(1, 3), fact(2, 3), fact(3, 2)]):
        claimed = runner(owner=None)
        for each in order:
            claimed = claimed.claimed(each)
        assert [each.job_id for each in claimed.claims] == [2]


def test_reports_of_launchers_never_push_out_what_aws_reported() -> None:
    observed = [started(1), warned(5), ended(7)]
    own = happened(OccurrenceKind.ATTACHMENT_REPORTED, 2, str(OWNER))
    foreign = [
        happened(kind, minute, str(OWNER + 1 + minute % 20))
        for minute in range(8, 58)
        for kind in (OccurrenceKind.ATTACHMENT_REPORTED, OccurrenceKind.END_REPORTED)
    ]
    known = runner(own, *observed, *foreign)
    assert {own, *observed} <= set(known.occurrences)
    assert len(known.occurrences) == len(observed) + REPORTS_KEPT
    assert (known.interrupted_at, known.terminated_at) == (clock(5), clock(7))


def test_of_the_reports_of_one_installation_the_newest_counts() -> None:
    first, second = (happened(OccurrenceKind.END_REPORTED, minute, str(OWNER)) for minute in (3, 5))
    assert in_any_order(first, second).termination_reported_at == clock(5)


def test_a_late_fact_of_an_earlier_job_does_not_take_the_machine_back() -> None:
    assert in_any_order(plan(1, 1), plan(2, 20), fact(1, 3)).job_id == 2


def test_a_thief_gets_the_launchers_facts_completed_by_those_of_aws() -> None:
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


def test_descriptions_with_other_facts_have_other_ids() -> None:
    """A function that lost a race would otherwise replace the history line of the one that won it."""

    def id_of(instance_type: str, price: str) -> str:
        known = runner(fact(1, 3, instance_type=instance_type, price_per_hour=Decimal(price)))
        found = description(known, JobKey(OWNER, 1))
        assert found is not None
        return found.delivery_id

    assert id_of("m7g.large", "0.10") != id_of("t4g.small", "0.10")
    assert id_of("m7g.large", "0.10") == id_of("m7g.large", "0.1")  # as DynamoDB returns it


@pytest.mark.parametrize(("launched", "scheduled"), [(1, 1), (None, 3), (9, 3)])
def test_without_a_plan_a_job_was_scheduled_when_its_machine_was_launched(launched: int | None, scheduled: int) -> None:
    """Not by a launch of a later life."""
    known = runner(fact(1, 3, launched_at=clock(launched) if launched is not None else None))
    found = description(known, JobKey(OWNER, 1))
    assert found is not None
    assert found.facts.scheduled_at == clock(scheduled)


def test_both_copies_of_a_job_that_two_hooks_report_get_messages() -> None:
    known = in_any_order(plan(1, 1), fact(1, 3), fact(1, 3, installation_id=HOOK), ended(5))
    assert messages_of(known, 1) == messages_of(known, 1, HOOK) == [("runner_terminated", clock(5))]


def test_a_hook_of_another_repository_gets_no_messages_and_takes_nothing() -> None:
    forged = fact(1, 5, installation_id=HOOK, repo="evil/x")
    known = in_any_order(plan(1, 1), fact(1, 3), forged, plan(2, 4), ended(9))
    assert messages_of(known, 1, HOOK) == []
    assert "runner_taken" not in [event_type for event_type, _ in messages_of(known, 2)]


def test_a_claim_has_no_effect_until_its_installation_owns_the_machine() -> None:
    known = runner(owner=None).claimed(fact(1, 3)).after(ended(5))
    assert (known.job_id, messages_of(known, 1)) == (None, [])
    owned = known.owned(installation_id=OWNER)
    assert (owned.job_id, messages_of(owned, 1)) == (1, [("runner_terminated", clock(5))])
    other = known.owned(installation_id=OWNER + 1)
    assert (other.job_id, messages_of(other, 1)) == (None, [])


def test_reports_about_another_installation_reach_no_job_of_the_owner() -> None:
    """A publisher may report about a machine before its owner is known."""
    foreign, own = (happened(OccurrenceKind.END_REPORTED, 5, str(each)) for each in (OWNER + 1, OWNER))
    known = runner(foreign, plan(1, 2), owner=None).owned(installation_id=OWNER)
    assert list(messages(known, JobKey(OWNER, 1))) == []
    assert known.termination_reported_at is None
    (message,) = messages(known.after(own), JobKey(OWNER, 1))
    assert message.action == "reported by the launcher"


def test_contested_machines_send_no_messages() -> None:
    assert messages_of(runner(fact(1, 3), ended(5)).owned(contested_at=clock(4)), 1) == []


def test_what_a_runner_keeps_is_bounded() -> None:
    known = runner(*(fact(job_id, job_id) for job_id in range(1, 3 * ASSIGNMENTS_KEPT)))
    assert [each.job_id for each in known.assignments] == [*range(2 * ASSIGNMENTS_KEPT, 3 * ASSIGNMENTS_KEPT)]
    claimed = runner(owner=None)
    for installation_id in range(1, 3 * CLAIMS_KEPT):
        claimed = claimed.claimed(fact(1, 1, installation_id=installation_id))
    assert len(claimed.claims) == CLAIMS_KEPT


def test_claims_of_strangers_do_not_keep_out_the_owners() -> None:
    claimed = runner(owner=None)
    for stranger in range(100, 120):
        claimed = claimed.claimed(fact(7, 1, installation_id=stranger, repo=f"stranger{stranger}/x"))
    assert claimed.claimed(fact(1, 3)).owned(installation_id=OWNER).job_id == 1
