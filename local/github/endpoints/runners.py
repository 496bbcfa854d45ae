"""Self-hosted runners of an organisation or of a repository: the same endpoints under two paths."""

from local.github.messages import Refusal, Response, not_found
from local.github.paging import page_of
from local.github.records import Runner
from local.github.routing import Call, Needs, Routes
from local.github.shapes.runners import runner as shape

routes = Routes(Needs.TOKEN)
OF_ORGANISATION = "/orgs/{org}/actions/runners"
OF_REPOSITORY = "/repos/{owner}/{repo}/actions/runners"


@routes.add("GET", OF_ORGANISATION)
@routes.add("GET", OF_REPOSITORY)
def list_runners(call: Call) -> Response:
    scope, name = _scope(call), call.request.query.get("name")
    found = [
        runner
        for runner in call.state.runners.values()
        if runner.scope.lower() == scope and name in (None, runner.name)
    ]
    page, headers = page_of(call.request, found)
    return Response(200, {"total_count": len(found), "runners": [shape(runner) for runner in page]}, headers)


@routes.add("GET", OF_ORGANISATION + "/{runner_id}")
@routes.add("GET", OF_REPOSITORY + "/{runner_id}")
def get_runner(call: Call) -> Response:
    return Response(200, shape(_runner(call)))


@routes.add("DELETE", OF_ORGANISATION + "/{runner_id}")
@routes.add("DELETE", OF_REPOSITORY + "/{runner_id}")
def delete_runner(call: Call) -> Response:
    runner = _runner(call)
    if runner.busy:
        raise Refusal(422, f'Bad request - Runner "{runner.name}" is still running a job"')
    del call.state.runners[runner.id]
    return Response(204)


def _scope(call: Call) -> str:
    return call.visible(call.values["org"]).lower() if "org" in call.values else call.repository


def _runner(call: Call) -> Runner:
    runner = call.state.runners.get(call.number("runner_id"))
    if runner is None or runner.scope.lower() != _scope(call):
        raise not_found()
    return runner
