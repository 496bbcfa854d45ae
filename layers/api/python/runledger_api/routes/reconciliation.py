"""Orphans and the reconciler: what it suspects, what it is told to do, and what came of it."""

from typing import Annotated, Any, Literal
from urllib.parse import unquote

from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger import api_runtime, times
from runledger.machines import Runner, RunnerStatus
from runledger.ownership import is_visible_to
from runledger.reconciliation.summary import Kind
from runledger.tables.pages import Span

from runledger_api.answers import checked
from runledger_api.listing import Listing
from runledger_api.models.admin import Accepted, Orphans, Pass, Passes, PassWanted
from runledger_api.parameters import Cursor, Limit
from runledger_api.refusals import Conflict, NoSuchThing
from runledger_api.visits import visit

router = APIGatewayHttpRouter()
RunnerId = Annotated[
    str,
    Path(pattern=r"^[A-Za-z0-9_:/.%-]+$", max_length=1000, description="an instance's id, or a task's ARN, encoded"),
]
PassId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]+$", max_length=100, description="as the order was answered")]
# A runner that is being cleaned is suspected, too.
STATES = {
    "suspected": (RunnerStatus.ACTIVE, RunnerStatus.CLEANING),
    "cleaning": (RunnerStatus.CLEANING,),
    "contested": (RunnerStatus.ACTIVE,),
}
CONTESTED = "contested"
SHOWN = ("kind", "installation_id", "job_id", "repo_full_name", "pool_name", "cleaning_owner")


@router.get(
    "/admin/orphans",
    tags=["admin"],
    operation_id="listOrphans",
    summary="Runners without a job, and machines that two installations claim",
    description="A token that is limited to some installations sees the machines that are proven to be theirs.",
)
def orphans(status: Annotated[Literal["suspected", "cleaning", "contested"], Query()] = "suspected") -> Orphans:
    caller, table = visit(router).caller, api_runtime.runners()
    wanted = "contested_at" if status == CONTESTED else "suspected_at"
    found = [
        runner
        for state in STATES[status]
        for runner in table.in_status(state)
        if getattr(runner, wanted) is not None and is_visible_to(runner, caller.installations)
    ]
    return checked({"orphans": [_shown(runner) for runner in found], "total": len(found)})


@router.post(
    "/admin/orphans/<runner_id>/cleanup",
    tags=["admin"],
    operation_id="cleanUpOrphan",
    summary="Stop an orphan now, exactly once",
    status_code=202,
)
def cleanup(runner_id: RunnerId) -> Accepted:
    here, wanted = visit(router), unquote(runner_id)
    runner = api_runtime.runners().get(wanted)
    if runner is None or not is_visible_to(runner, here.caller.installations):
        raise NoSuchThing(f"there is no runner {wanted}")
    if runner.status is RunnerStatus.CLEANING:
        raise Conflict(f"{wanted} is being cleaned by {runner.cleaning_owner}")
    if runner.status is RunnerStatus.CLEANED or runner.suspected_at is None:
        raise Conflict(f"{wanted} is not suspected to be an orphan: the reconciler decides who is")
    caller = here.caller
    order_id = api_runtime.orders().clean(
        wanted, at=here.now, requested_by=caller.id, installations=caller.installations
    )
    return {"id": order_id}


@router.post(
    "/admin/reconciliation/run",
    tags=["admin"],
    operation_id="runReconciliation",
    summary="Start a pass of the reconciler",
    status_code=202,
)
def run(body: Annotated[PassWanted | None, Body()] = None) -> Accepted:
    here = visit(router)
    here.caller.must_see_all()
    kind = Kind((body or {}).get("pass", Kind.FULL))
    return {"id": api_runtime.orders().run(kind, at=here.now, requested_by=here.caller.id)}


@router.get(
    "/admin/reconciliation",
    tags=["admin"],
    operation_id="listPasses",
    summary="Passes of the reconciler, newest first",
)
def passes(limit: Limit = 50, cursor: Cursor = None) -> Passes:
    here = visit(router)
    here.caller.must_see_all()
    listing = Listing(api_runtime.cursors(), here, cursor, Span())
    found = api_runtime.passes().newest(limit, before=listing.start["id"] if listing.start else None)
    return listing.answer([_told(each) for each in found], {"id": found[-1]["id"]} if len(found) == limit else None)


@router.get(
    "/admin/reconciliation/<pass_id>",
    tags=["admin"],
    operation_id="getPass",
    summary="How far a pass or a cleanup is, and what it found",
)
def one_pass(pass_id: PassId) -> Pass:
    caller = visit(router).caller
    found = api_runtime.passes().get(pass_id)
    # A caller that is limited to some installations may read only the orders it gave itself.
    if found is None or (caller.installations is not None and found.get("requested_by") != caller.id):
        raise NoSuchThing(f"there is no pass {pass_id}")
    return checked(_told(found))


def _told(found: dict[str, Any]) -> dict[str, Any]:
    return {"summary": {}, "findings": [], "text": "", **found}


def _shown(runner: Runner) -> dict[str, Any]:
    if runner.contested_at:
        claimants = [runner.installation_id, runner.contested_by]
        return {
            "runner_id": runner.runner_id,
            "status": CONTESTED,
            "reason": CONTESTED,
            "detected_at": runner.contested_at,
            "created_at": runner.created_at,
            "claimed_by": [each for each in claimants if each is not None],
        }
    assert runner.suspected_at is not None
    about = {name: getattr(runner, name) for name in SHOWN}
    return {name: value for name, value in about.items() if value is not None} | {
        "runner_id": runner.runner_id,
        "status": runner.status,
        "reason": runner.suspected_reason,
        "detected_at": runner.suspected_at,
        "due_at": times.earlier(runner.suspected_at, seconds=-api_runtime.orphan_grace_seconds()),
        "created_at": runner.created_at,
    }
