"""Deployments and their approval status."""

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model.reports import Approval

from runledger_api import wiring
from runledger_api.errors import NotFound
from runledger_api.models.runs import Deployment
from runledger_api.parameters import DeploymentId, InstallationId
from runledger_api.responses import checked

router = APIGatewayHttpRouter()


@router.get(
    "/v1/installations/<installation_id>/deployments/<deployment_id>",
    tags=["approvals"],
    operation_id="getDeployment",
    summary="A deployment and its approval",
    description="If a GitHub App is set up, a pending deployment older than five minutes is refreshed from GitHub.",
)
def deployment(installation_id: InstallationId, deployment_id: DeploymentId) -> Deployment:
    found = wiring.deployments().get(installation_id, deployment_id)
    is_pending = found and found.get("status") == Approval.PENDING and "repo_full_name" in found
    if found and is_pending and wiring.github().may_refresh():
        found = wiring.deployment_cache().get(installation_id, found["repo_full_name"], deployment_id)
    if not found or "status" not in found:
        raise NotFound(f"deployment {deployment_id} was not found in installation {installation_id}")
    return checked({**found, "job_ids": sorted(found.get("job_ids", ()))})
