"""Deployments that wait for somebody: reviews reach the jobs, and jobs that come later find the review."""

from collections.abc import Callable

from runledger.decision import Decision
from runledger.model import EventType, Facts, Receipt, Source
from runledger.reports import Approval, DeploymentReport, Review, Waiting
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.gates import Gates

Record = Callable[[Receipt], Decision]

LINES = {
    Approval.PENDING: EventType.DEPLOYMENT_REQUESTED,
    Approval.APPROVED: EventType.DEPLOYMENT_APPROVED,
    Approval.REJECTED: EventType.DEPLOYMENT_REJECTED,
}


def join(waiting: Waiting, gates: Gates, deployments: DeploymentsTable, record: Record) -> None:
    gate = gates.join(waiting)
    deployments.absorb(
        DeploymentReport(
            installation_id=waiting.installation_id,
            deployment_id=waiting.deployment_id,
            reported_at=waiting.at,
            repo_full_name=waiting.repo_full_name,
            environment=waiting.environment,
            job_id=waiting.job_id,
        )
    )
    if gate.review:
        _decide(gate.review, waiting.deployment_id, deployments)
        record(_line(gate.review, waiting.job_id))


def review(said: Review, gates: Gates, deployments: DeploymentsTable, record: Record) -> None:
    gate = gates.review(said)
    if gate.deployment_id is not None:
        _decide(said, gate.deployment_id, deployments)
    for job_id in gate.job_ids:
        record(_line(said, job_id))


def _decide(said: Review, deployment_id: int, deployments: DeploymentsTable) -> None:
    deployments.absorb(
        DeploymentReport(
            installation_id=said.installation_id,
            deployment_id=deployment_id,
            reported_at=said.reported_at,
            repo_full_name=said.repo_full_name,
            environment=said.environment,
            status=said.status,
            requires_approval=True,
            reviewed_at=said.reviewed_at,
        )
    )


def _line(said: Review, job_id: int) -> Receipt:
    return Receipt(
        installation_id=said.installation_id,
        job_id=job_id,
        delivery_id=said.delivery_id,
        received_at=said.reported_at,
        event_type=LINES[said.status],
        source=Source.GITHUB_WEBHOOK,
        body_digest=said.body_digest,
        facts=Facts(run_id=said.run_id, run_attempt=said.run_attempt, repo_full_name=said.repo_full_name),
    )
