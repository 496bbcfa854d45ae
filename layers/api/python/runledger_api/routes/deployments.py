"""Deployments and their approval status."""

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model.keys import DeploymentKey
from runledger.model.reports import Approval

from runledger_api import wiring
from runledger_api.errors import NotFound
from runledger_api.github_lookups import look_up
from runledger_api.models.runs import Deployment
from runledger_api.parameters import INSTALLATION, DeploymentId, InstallationId, LookupRepo
from runledger_api.responses import untyped

router = APIGatewayHttpRouter()


@router.get(
    f"{INSTALLATION}/deployments/<deployment_id>",
    tags=["approvals"],
    operation_id="getDeployment",
    summary="A deployment and its approval",
    description=(
        "If a GitHub App is set up, a pending deployment older than five minutes is refreshed from GitHub, and one "
        "that the ledger doesn't have is looked up there if `repo` is given."
    ),
)
def deployment(installation_id: InstallationId, deployment_id: DeploymentId, repo: LookupRepo = None) -> Deployment:
    key = DeploymentKey(installation_id, deployment_id)
    found = wiring.deployments().get(key)
    if not found or "status" not in found:
        found = look_up(wiring.deployment_cache(), key, repo)
    elif found["status"] == Approval.PENDING and "repo_full_name" in found and wiring.github().may_refresh():
        found = wiring.deployment_cache().get(key, found["repo_full_name"])
    if not found:
        raise NotFound(f"Deployment {deployment_id} was not found in installation {installation_id}")
    return untyped({**found, "job_ids": sorted(found.get("job_ids", ()))})
