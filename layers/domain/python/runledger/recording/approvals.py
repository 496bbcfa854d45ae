"""Reviews of deployments: each is recorded on the jobs at its gate, and on jobs that reach the gate later."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from runledger.model.inputs import EventType, Facts, Receipt, Source
from runledger.model.job import Job
from runledger.model.reports import Approval, DeploymentReport, GateJob, Review, Waiting
from runledger.recording.decision import Decision
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.gates import Gates, job_from, job_text

Record = Callable[[Receipt], Decision]

# Each job takes four calls, and intake must respond within seconds.
JOBS_IN_A_PART = 10
EVENT_TYPES = {
    Approval.PENDING: EventType.DEPLOYMENT_REQUESTED,
    Approval.APPROVED: EventType.DEPLOYMENT_APPROVED,
    Approval.REJECTED: EventType.DEPLOYMENT_REJECTED,
}


def join(waiting: Waiting, gates: Gates, deployments: DeploymentsTable, record: Record) -> Job | None:
    """Records earlier reviews on the job and returns the changed job, or None if there are no reviews."""
    gate = gates.join(waiting)
    deployments.absorb(
        DeploymentReport(
            installation_id=waiting.installation_id,
            deployment_id=waiting.job.deployment_id,
            reported_at=waiting.at,
            repo_full_name=waiting.repo_full_name,
            environment=waiting.environment,
            job_id=waiting.job.job_id,
            job_created_at=waiting.job.created_at,
        )
    )
    recorded = [_apply(review, waiting.job, deployments, record) for review in gate.reviews_of(waiting.job)]
    return recorded[-1].job if recorded else None


def parts(review: Review, gates: Gates) -> Iterator[Review]:
    """Stores the review at the gate, and splits it into parts that can be applied separately."""
    reached = gates.review(review).reached_by(review)
    for start in range(0, len(reached), JOBS_IN_A_PART):
        yield replace(review, jobs=tuple(reached[start : start + JOBS_IN_A_PART]))


def apply(part: Review, deployments: DeploymentsTable, record: Record) -> None:
    for job in part.jobs or ():
        _apply(part, job, deployments, record)


def to_texts(jobs: Iterable[GateJob]) -> tuple[str, ...]:
    """For messages, in the format of the table: all releases read it."""
    return tuple(map(job_text, jobs))


def from_texts(texts: Iterable[str]) -> tuple[GateJob, ...]:
    return tuple(map(job_from, texts))


def _apply(review: Review, job: GateJob, deployments: DeploymentsTable, record: Record) -> Decision:
    deployments.absorb(
        DeploymentReport(
            installation_id=review.installation_id,
            deployment_id=job.deployment_id,
            reported_at=review.reported_at,
            repo_full_name=review.repo_full_name,
            environment=review.environment,
            status=review.status,
            requires_approval=True,
            reviewed_at=review.reviewed_at,
            job_created_at=job.created_at,
        )
    )
    return record(_receipt(review, job.job_id))


def _receipt(review: Review, job_id: int) -> Receipt:
    return Receipt(
        installation_id=review.installation_id,
        job_id=job_id,
        delivery_id=review.delivery_id,
        received_at=review.reported_at,
        event_type=EVENT_TYPES[review.status],
        source=Source.GITHUB_WEBHOOK,
        body_digest=review.body_digest,
        facts=Facts(
            run_id=review.run_id,
            run_attempt=review.run_attempt,
            repo_full_name=review.repo_full_name,
            approval_requested_at=review.reviewed_at if review.status is Approval.PENDING else None,
            approved_at=review.reviewed_at if review.status is Approval.APPROVED else None,
            rejected_at=review.reviewed_at if review.status is Approval.REJECTED else None,
        ),
    )
