"""Deployments: was it approved, and by when?"""

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger import api_runtime
from runledger.reports import Approval

from runledger_api.answers import checked
from runledger_api.models.runs import Deployment
from runledger_api.parameters import DeploymentId, InstallationId
from runledger_api.refusals import NoSuchThing

router = APIGatewayHttpRouter()


@router.get(
    "/v1/installations/<installation_id>/deployments/<deployment_id>",
    tags=["approvals"],
    operation_id="getDeployment",
    summary="A deployment and its approval",
    description="A pending one is asked of GitHub again after five minutes, where there is a GitHub App.",
)
def deployment(installation_id: InstallationId, deployment_id: DeploymentId) -> Deployment:
    found = api_runtime.deployments().get(installation_id, deployment_id)
    is_pending = found and found.get("status") == Approval.PENDING and "repo_full_name" in found
    if found and is_pending and api_runtime.github().may_refresh():
        found = api_runtime.deployment_cache().get(installation_id, found["repo_full_name"], deployment_id)
    if not found or "status" not in found:
        raise NoSuchThing(f"there is no deployment {deployment_id} in installation {installation_id}")
    return checked({**found, "job_ids": sorted(found.get("job_ids", ()))})
