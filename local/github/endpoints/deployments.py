"""Deployments and pending approvals."""

from local.github.endpoints.runs import RUN, known_run
from local.github.messages import Answer, not_found
from local.github.paging import page_of
from local.github.records import Deployment
from local.github.routing import Call, Needs, Routes
from local.github.shapes import deployments as shapes

routes = Routes(Needs.TOKEN)
DEPLOYMENT = "/repos/{owner}/{repo}/deployments/{deployment_id}"


@routes.add("GET", RUN + "/pending_deployments")
def list_pending(call: Call) -> Answer:
    run = known_run(call)
    waiting = [one for one in call.state.deployments.values() if one.run_id == run.id and one.awaits_approval]
    return Answer(200, [shapes.pending(call.site, one) for one in waiting])


@routes.add("GET", DEPLOYMENT)
def get_deployment(call: Call) -> Answer:
    return Answer(200, shapes.deployment(call.site, _deployment(call)))


@routes.add("GET", DEPLOYMENT + "/statuses")
def list_statuses(call: Call) -> Answer:
    page, headers = page_of(call.request, shapes.statuses(call.site, _deployment(call)))
    return Answer(200, page, headers)


def _deployment(call: Call) -> Deployment:
    deployment = call.state.deployments.get(call.number("deployment_id"))
    if deployment is None or deployment.repository.lower() != call.repository:
        raise not_found()
    return deployment
