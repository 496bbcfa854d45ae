"""Repositories and workflows, and dispatches of workflows."""

from dataclasses import replace

from local.github.messages import Refusal, Response, not_found
from local.github.records import Run, Workflow
from local.github.routing import Call, Needs, Routes
from local.github.shapes import workflows as shapes
from local.github.state import RunDetails, State, timestamp

routes = Routes(Needs.TOKEN)
WORKFLOW = "/repos/{owner}/{repo}/actions/workflows/{workflow_id}"
RUN_DETAILS = "return_run_details"


@routes.add("GET", "/repos/{owner}/{repo}")
def get_repository(call: Call) -> Response:
    return Response(200, shapes.full_repository(call.site, call.repository))


@routes.add("GET", WORKFLOW)
def get_workflow(call: Call) -> Response:
    return Response(200, shapes.workflow(call.site, _workflow(call)))


@routes.add("POST", WORKFLOW + "/dispatches")
def dispatch_workflow(call: Call) -> Response:
    workflow, given, details = _workflow(call), call.request.json(), call.state.settings.run_details
    if not isinstance(given.get("ref"), str):
        raise Refusal(422, 'Invalid request. "ref" wasn\'t supplied.')
    if RUN_DETAILS in given and details is RunDetails.REJECTED:
        raise Refusal(422, f'Invalid request. "{RUN_DETAILS}" is not a permitted key.')
    if workflow.state != "active":
        raise Refusal(422, "Cannot trigger a 'workflow_dispatch' on a disabled workflow")
    run = _run(call.state, workflow, given["ref"])
    _start(call, run, workflow.conclusion)
    if not given.get(RUN_DETAILS) or details is RunDetails.IGNORED:
        return Response(204)
    return Response(200, shapes.dispatched(call.site, run))


def _run(state: State, workflow: Workflow, ref: str) -> Run:
    """A run on the branch's newest commit that has a run."""
    run = Run(
        id=state.new_id(),
        repository=workflow.repository,
        name=workflow.name,
        path=workflow.path,
        workflow_id=workflow.id,
        event="workflow_dispatch",
        head_branch=ref,
        status="queued",
        created_at=timestamp(state.now()),
    )
    others = [each for each in state.runs.values() if (each.repository, each.head_branch) == (run.repository, ref)]
    newest = max(others, key=lambda each: each.id, default=run)
    return replace(run, head_sha=newest.head_sha, committed_at=newest.committed_at)


def _start(call: Call, run: Run, conclusion: str | None) -> None:
    events = {"requested": run}
    if conclusion:
        events["completed"] = replace(run, status="completed", conclusion=conclusion)
    *_, call.state.runs[run.id] = events.values()
    if call.state.settings.webhook_url and call.installation:
        sent = {"installation_id": call.installation.id}
        payloads = [shapes.run_webhook(call.site, each, action, **sent) for action, each in events.items()]
        call.courier.send_later("workflow_run", *payloads)


def _workflow(call: Call) -> Workflow:
    """The workflow is found by its id, or by the name of its file."""
    wanted = call.values["workflow_id"]
    for workflow in call.state.workflows.values():
        named = (str(workflow.id), workflow.path.rpartition("/")[2])
        if workflow.repository.lower() == call.repository and wanted in named:
            return workflow
    raise not_found()
