"""Orphaned runners, and reconciler passes."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model import times
from runledger.model.job import Job
from runledger.model.ownership import is_visible_to
from runledger.model.passes import LONGEST_PASS_SECONDS, LONGEST_WAIT_SECONDS, OrphanMode, PassKind, PassStatus
from runledger.model.runner import Runner, RunnerStatus
from runledger.model.suspicion import Cleared, Reason
from runledger.tables.pages import Span

from runledger_api import wiring
from runledger_api.authentication import Role
from runledger_api.authorization import requires
from runledger_api.errors import Conflict, NotFound
from runledger_api.models.admin import Accepted, Orphans, Pass, Passes, PassRequest
from runledger_api.pagination import Paginator
from runledger_api.parameters import Cursor, Limit
from runledger_api.request import current_request
from runledger_api.responses import untyped

router = APIGatewayHttpRouter()
RunnerId = Annotated[
    str,
    Path(
        pattern=r"^[A-Za-z0-9_:/.%-]+$",
        max_length=1000,
        description="an instance id, a task's ARN, URL-encoded, or the id of a job or run that has exactly one orphan",
    ),
]
PassId = Annotated[
    str,
    Path(pattern=r"^[A-Za-z0-9_-]+$", max_length=100, description="`id` of the accepted request"),
]
# A runner in cleanup also counts as suspected.
STATES = {
    "suspected": (RunnerStatus.ACTIVE, RunnerStatus.CLEANING),
    "cleaning": (RunnerStatus.CLEANING,),
    "contested": (RunnerStatus.ACTIVE,),
    "unknown_job": (RunnerStatus.ACTIVE,),
}
CONTESTED = "contested"
UNKNOWN_JOB = "unknown_job"
ORPHAN_FIELDS = ("kind", "installation_id", "job_id", "repo_full_name", "pool_name", "cleaning_owner")
# By the reason of the suspicion. For every other reason, the machine is running.
MACHINE_STATES: Mapping[str | None, str] = {Reason.INSTANCE_GONE: "gone", Reason.INSTANCE_STOPPED: "stopped"}


@router.get(
    "/admin/orphans",
    tags=["admin"],
    operation_id="listOrphans",
    summary="Orphaned runners, machines that two installations claim, and runners that work on an unknown job",
    description="A token that is limited to some installations sees only machines with a proven owner among them.",
)
def orphans(
    status: Annotated[Literal["suspected", "cleaning", "contested", "unknown_job"], Query()] = "suspected",
) -> Orphans:
    found = _orphans(status)
    jobs = _jobs_of(found)
    return untyped({"orphans": [_orphan_body(runner, jobs) for runner in found], "total": len(found)})


@router.post(
    "/admin/orphans/<runner_id>/cleanup",
    tags=["admin"],
    operation_id="cleanUpOrphan",
    summary="Terminate an orphaned runner now",
    description="Requires the role operator. Read the result at `GET /admin/reconciliation/{id}`.",
    status_code=202,
)
@requires(Role.OPERATOR)
def cleanup(runner_id: RunnerId) -> Accepted:
    request, wanted = current_request(router), unquote(runner_id)
    runner = _orphan_of(int(wanted)) if wanted.isdecimal() else wiring.runners().get(wanted)
    if runner is None or not is_visible_to(runner, request.caller.installations):
        raise NotFound(f"Runner {wanted} was not found")
    wanted = runner.runner_id
    if runner.status is RunnerStatus.CLEANING:
        raise Conflict(f"Runner {wanted} is already being cleaned up by {runner.cleaning_owner}")
    if runner.status is RunnerStatus.CLEANED or runner.suspected_at is None:
        raise Conflict(f"Runner {wanted} isn't a suspected orphan: only the reconciler marks a runner as suspected")
    caller = request.caller
    pass_id = wiring.pass_requests().clean(
        wanted, at=request.now, requested_by=caller.id, installations=caller.installations
    )
    return {"id": pass_id}


@router.post(
    "/admin/reconciliation/run",
    tags=["admin"],
    operation_id="runReconciliation",
    summary="Start a reconciler pass",
    description="Requires the role operator, for all installations.",
    status_code=202,
)
@requires(Role.OPERATOR)
def run(body: Annotated[PassRequest | None, Body()] = None) -> Accepted:
    request = current_request(router)
    request.caller.require_all_installations()
    kind = PassKind((body or {}).get("pass", PassKind.FULL))
    return {"id": wiring.pass_requests().run(kind, at=request.now, requested_by=request.caller.id)}


@router.get(
    "/admin/reconciliation",
    tags=["admin"],
    operation_id="listPasses",
    summary="Reconciler passes, newest first",
)
def passes(limit: Limit = 50, cursor: Cursor = None) -> Passes:
    request = current_request(router)
    request.caller.require_all_installations()
    paginator = Paginator(wiring.cursors(), request, cursor, Span())
    found = wiring.passes().newest(limit, before=paginator.start["id"] if paginator.start else None)
    return paginator.page(
        [_pass_body(each, request.now) for each in found], {"id": found[-1]["id"]} if len(found) == limit else None
    )


@router.get(
    "/admin/reconciliation/<pass_id>",
    tags=["admin"],
    operation_id="getPass",
    summary="Status and findings of a pass or cleanup",
)
def one_pass(pass_id: PassId) -> Pass:
    request = current_request(router)
    caller, found = request.caller, wiring.passes().get(pass_id)
    # A caller that is limited to some installations can read only what it requested itself.
    if found is None or (caller.installations is not None and found.get("requested_by") != caller.id):
        raise NotFound(f"Pass {pass_id} was not found")
    return untyped(_pass_body(found, request.now))


def _pass_body(found: dict[str, Any], now: str) -> dict[str, Any]:
    body = {"summary": {}, "findings": [], "text": "", **found}
    return body | {"status": PassStatus.FAILED} if _has_failed(found, now) else body


def _has_failed(found: dict[str, Any], now: str) -> bool:
    """Whether a pass has no result although its function must have ended: it crashed, or was never started."""
    if found["status"] == PassStatus.RUNNING:
        return bool(found["started_at"] < times.earlier(now, seconds=LONGEST_PASS_SECONDS))
    longest = LONGEST_WAIT_SECONDS + LONGEST_PASS_SECONDS
    is_requested = found["status"] == PassStatus.REQUESTED
    return is_requested and bool(found["requested_at"] < times.earlier(now, seconds=longest))


def _orphans(status: str) -> list[Runner]:
    """The orphans that the caller may see."""
    caller, table = current_request(router).caller, wiring.runners()
    return [
        runner
        for state in STATES[status]
        for runner in table.in_status(state)
        if _is_listed(runner, status) and is_visible_to(runner, caller.installations)
    ]


def _is_listed(runner: Runner, status: str) -> bool:
    if status == UNKNOWN_JOB:
        return _works_on_unknown_job(runner)
    return (runner.contested_at if status == CONTESTED else runner.suspected_at) is not None


def _works_on_unknown_job(runner: Runner) -> bool:
    """GitHub reported it as busy when it was suspected. The next job that is recorded for it ends this state."""
    return runner.suspicion_cleared_reason == Cleared.BUSY and not runner.suspected_at and not runner.contested_at


def _orphan_of(number: int) -> Runner:
    """The only orphan of the job or run with this id."""
    orphans = _orphans("suspected")
    jobs = _jobs_of(orphans)
    found = [each for each in orphans if (job := jobs.get(each.runner_id)) and number in (job.job_id, job.run_id)]
    if not found:
        raise NotFound(f"No orphan of a job or run {number} was found")
    if len(found) > 1:
        several = ", ".join(each.runner_id for each in found)
        raise Conflict(f"Job or run {number} has {len(found)} orphans: clean up one of them by its id: {several}")
    return found[0]


def _jobs_of(runners: Iterable[Runner]) -> Mapping[str, Job]:
    """The job of each runner, by runner id. A contested machine is described to neither claimant."""
    keys = {
        each.runner_id: (each.installation_id, each.job_id)
        for each in runners
        if each.installation_id is not None and each.job_id is not None and not each.contested_at
    }
    jobs = wiring.jobs().among(keys.values()) if keys else {}
    return {runner_id: jobs[key] for runner_id, key in keys.items() if key in jobs}


def _orphan_body(runner: Runner, jobs: Mapping[str, Job]) -> dict[str, Any]:
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
    known: dict[str, Any] = {name: getattr(runner, name) for name in ORPHAN_FIELDS}
    if _works_on_unknown_job(runner):
        return _without_nulls(known) | {
            "runner_id": runner.runner_id,
            "status": UNKNOWN_JOB,
            "reason": UNKNOWN_JOB,
            "detected_at": runner.suspicion_cleared_at,
            "created_at": runner.created_at,
            "machine_state": "running",
        }
    assert runner.suspected_at is not None
    known["machine_state"] = MACHINE_STATES.get(runner.suspected_reason, "running")
    if job := jobs.get(runner.runner_id):
        known |= {"run_id": job.run_id, "job_status": job.status, "job_conclusion": job.conclusion}
    if wiring.settings().orphans is OrphanMode.ENFORCE:
        known["due_at"] = times.later(runner.suspected_at, seconds=wiring.orphan_grace_seconds())
    return _without_nulls(known) | {
        "runner_id": runner.runner_id,
        "status": runner.status,
        "reason": runner.suspected_reason,
        "detected_at": runner.suspected_at,
        "created_at": runner.created_at,
    }


def _without_nulls(known: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in known.items() if value is not None}
