"""The owner of a machine: claims and reports of others have no effect on it, in any order."""

from itertools import permutations

import pytest
from runledger.model.assignments import (
    ASSIGNMENTS_KEPT,
    REPORTS_KEPT,
    OccurrenceKind,
)
from runledger.model.keys import JobKey
from runledger.model.ownership import Proof, owner_after
from runledger.model.runner import CLAIMS_KEPT, Runner
from runledger.runners.machine_messages import messages

from tests.domain.machines import (
    HOOK,
    MACHINE,
    OWNER,
    clock,
    ended,
    fact,
    happened,
    in_any_order,
    messages_of,
    plan,
    runner,
    started,
    warned,
)


@pytest.mark.parametrize("proofs", list(permutations(Proof)))
def test_the_strongest_proof_for_an_owner_is_kept_in_any_order(proofs: tuple[Proof, ...]) -> None:
    runner = Runner(runner_id=MACHINE, created_at=clock(0))
    for proof in proofs:
        runner = runner.with_values(**owner_after(runner, plan(1, 1), proof))
    assert runner.proven_by == Proof.EVENT


def test_a_limited_event_does_not_weaken_the_proof_of_a_tag() -> None:
    runner = Runner(runner_id=MACHINE, created_at=clock(0), installation_id=OWNER, proven_by=Proof.TAG)
    assert owner_after(runner, plan(1, 1), Proof.SCOPED_EVENT)["proven_by"] == Proof.TAG


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
    owned = known.with_values(installation_id=OWNER)
    assert (owned.job_id, messages_of(owned, 1)) == (1, [("runner_terminated", clock(5))])
    other = known.with_values(installation_id=OWNER + 1)
    assert (other.job_id, messages_of(other, 1)) == (None, [])


def test_reports_about_another_installation_reach_no_job_of_the_owner() -> None:
    """A publisher may report about a machine before its owner is known."""
    foreign, own = (happened(OccurrenceKind.END_REPORTED, 5, str(each)) for each in (OWNER + 1, OWNER))
    known = runner(foreign, plan(1, 2), owner=None).with_values(installation_id=OWNER)
    assert list(messages(known, JobKey(OWNER, 1))) == []
    assert known.termination_reported_at is None
    (message,) = messages(known.after(own), JobKey(OWNER, 1))
    assert message.action == "reported by the launcher"


def test_contested_machines_send_no_messages() -> None:
    assert messages_of(runner(fact(1, 3), ended(5)).with_values(contested_at=clock(4)), 1) == []


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
    assert claimed.claimed(fact(1, 3)).with_values(installation_id=OWNER).job_id == 1
