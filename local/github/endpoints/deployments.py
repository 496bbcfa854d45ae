"""Deployments and pending approvals."""

from local.github.endpoints.runs import RUN, find_run
from local.github.messages import Response, not_found
from local.github.paging import page_of
from local.github.records import Deployment
from local.github.routing import Call, Needs, Routes
from local.github.shapes import deployments as shapes

routes = Routes(Needs.TOKEN)
DEPLOYMENT = "/repos/{owner}/{repo}/deployments/{deployment_id}"


@routes.add("GET", RUN + "/pending_deployments")
def list_pending(call: Call) -> Response:
    run = find_run(call)
    pending = [
        record for record in call.state.deployments.values() if record.run_id == run.id and record.awaits_approval
    ]
    return Response(200, [shapes.pending(call.site, record) for record in pending])


@routes.add("GET", DEPLOYMENT)
def get_deployment(call: Call) -> Response:
    return Response(200, shapes.deployment(call.site, _deployment(call)))


@routes.add("GET", DEPLOYMENT + "/statuses")
def list_statuses(call: Call) -> Response:
    page, headers = page_of(call.request, shapes.statuses(call.site, _deployment(call)))
    return Response(200, page, headers)


def _deployment(call: Call) -> Deployment:
    deployment = call.state.deployments.get(call.number("deployment_id"))
    if deployment is None or deployment.repository.lower() != call.repository:
        raise not_found()
    return deployment
