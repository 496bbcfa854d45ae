"""Which review counts for a job at a gate."""

from itertools import permutations

from runledger.model.gates import Gate
from runledger.model.reports import Approval, GateJob, Review

CREATED, LATER, LATEST = (f"2025-01-15T10:0{minute}:00.000Z" for minute in (1, 2, 3))
JOB = GateJob(job_id=101, deployment_id=1, created_at=CREATED)


def review(status: Approval, at: str) -> Review:
    return Review(
        installation_id=41,
        run_id=1,
        run_attempt=1,
        environment="production",
        status=status,
        reviewed_at=at,
        repo_full_name="acme/web",
        delivery_id=f"{status} at {at}",
        reported_at=at,
    )


def test_of_two_decisions_at_the_same_time_the_rejection_counts() -> None:
    approval, rejection = review(Approval.APPROVED, LATER), review(Approval.REJECTED, LATER)
    for order in permutations([approval, rejection]):
        gate = Gate(jobs=(JOB,), reviews=order)
        assert gate.reviews_of(JOB) == [rejection]
        assert (gate.reached_by(approval), gate.reached_by(rejection)) == ([], [JOB])


def test_of_two_decisions_the_first_counts() -> None:
    approval, rejection = review(Approval.APPROVED, LATER), review(Approval.REJECTED, LATEST)
    for order in permutations([approval, rejection]):
        assert Gate(jobs=(JOB,), reviews=order).reviews_of(JOB) == [approval]
