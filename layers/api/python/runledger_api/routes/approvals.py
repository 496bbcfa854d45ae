"""Deployments that wait for an approval."""

from dataclasses import asdict

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model import times
from runledger.model.job import Job
from runledger.queries import forgotten_approvals

from runledger_api import wiring
from runledger_api.models.runs import WaitingApprovals
from runledger_api.parameters import INSTALLATION, InstallationId
from runledger_api.request import current_request
from runledger_api.responses import untyped

router = APIGatewayHttpRouter()


@router.get(
    f"{INSTALLATION}/approvals/waiting",
    tags=["approvals"],
    operation_id="listWaitingApprovals",
    summary="Deployments that wait for approval, longest wait first",
)
def waiting(installation_id: InstallationId) -> WaitingApprovals:
    now = current_request(router).now
    found = forgotten_approvals.find(wiring.jobs(), [installation_id], waiting_since_before=now, is_pending=_is_pending)
    too_long = times.earlier(now, seconds=wiring.forgotten_approval_seconds())
    items = [asdict(each) | {"forgotten": each.waiting_since < too_long} for each in found]
    return untyped({"items": items, "next_cursor": None})


def _is_pending(job: Job) -> bool:
    """Reads the table only: calling GitHub would take one request per deployment, and the reconciler does that."""
    return forgotten_approvals.is_pending(job, wiring.deployments())
