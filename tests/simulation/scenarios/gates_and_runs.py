"""Jobs behind an environment, partial re-runs and renames: what GitHub sends, in the order in which it sends it."""

from collections.abc import Mapping
from typing import Any

from runledger.webhooks.readers import dispatcher

from tests.simulation.explore import Flow
from tests.simulation.scenario import Scenario
from tests.simulation.world import Process
from tests.support import messages
from tests.support.ledgers import RUNNERS, RUNS
from tests.support.messages import Message
from tests.support.webhooks import COMPLETED, IN_PROGRESS, JOB, QUEUED, QUEUED_AGAIN, WAITING, delivery, payload

SECONDS_APART = 60
REPO_NAME = frozenset({"repo_full_name"})
RENAMED = "lineville/renamed"
REQUESTED_AT, APPROVED_AT = "2025-01-15T10:00:03Z", "2025-01-15T10:01:00.000Z"


def job(
    step: str, job_id: int = JOB, *, deployment: int | None = None, repo: str | None = None, **about: Any
) -> Message:
    body = payload(step, job_id=job_id, **about)
    if deployment is not None:
        body["deployment"] = {"id": deployment, "environment": messages.ENVIRONMENT}
    if repo is not None:
        body["repository"]["full_name"] = repo
    return "workflow_job", body


def story(*sent: Message) -> Mapping[str, Flow]:
    """Each message is received a minute after the one before it."""
    flows = {}
    for place, (event, body) in enumerate(sent):
        name = f"{place} {event} {body['action']}"
        flows[name] = receiving((event, body), guid=name, at=SECONDS_APART * place)
    return flows


def receiving(message: Message, *, guid: str, at: int) -> Flow:
    event, body = message
    inputs = dispatcher.read(delivery(body, guid=guid, at=at, event=event))

    def flow(process: Process) -> None:
        for each in inputs:
            process.ledger.dispatch(each)

    return flow


def _matrix(decision: str) -> Scenario:
    jobs = [(JOB + n, 100 + n, f"test ({n})") for n in range(3)]
    waiting = [job(WAITING, each, deployment=deployment, name=name) for each, deployment, name in jobs]
    if decision == "approved":
        ends = [job(QUEUED_AGAIN, each, deployment=deployment, name=name) for each, deployment, name in jobs]
    else:
        failed: dict[str, Any] = {"conclusion": "failure", "runner_id": 0, "runner_name": None}
        ends = [job(COMPLETED, each, name=name, **failed) for each, _, name in jobs]
    status = "queued" if decision == "approved" else "completed"
    return Scenario(
        inputs=story(*waiting, messages.review(decision), *ends),
        jobs={each: {"status": status} for each, _, _ in jobs},
        deployments={each: {"status": decision, "requires_approval": True} for _, each, _ in jobs},
        runs={1: {"total_jobs": 3, "failed_jobs": 0 if decision == "approved" else 3}},
    )


_SECOND: dict[str, Any] = {"created_at": "2025-01-15T10:05:00Z", "started_at": "2025-01-15T10:05:00Z", "name": "second"}
_RERUN: dict[str, Any] = {"run_attempt": 2, "created_at": "2025-01-15T10:20:00Z"}

SCENARIOS: Mapping[str, Scenario] = {
    "life_with_approval": Scenario(
        inputs=story(
            job(QUEUED),
            job(WAITING, deployment=100),
            messages.review("requested", since=REQUESTED_AT),
            messages.review("approved"),
            job(QUEUED_AGAIN, deployment=100),
            job(IN_PROGRESS),
            job(COMPLETED),
        ),
        jobs={JOB: {"status": "completed", "conclusion": "success", "deployment_id": 100}},
        deployments={100: {"status": "approved", "approved_at": APPROVED_AT}},
        runs={1: {"total_jobs": 1, "completed_jobs": 1, "failed_jobs": 0}},
    ),
    "approved_matrix": _matrix("approved"),
    "rejected_matrix": _matrix("rejected"),
    "two_jobs_in_sequence": Scenario(
        inputs=story(
            job(WAITING, deployment=100, name="first"),
            messages.review("requested", since=REQUESTED_AT, job_name="first"),
            messages.review("approved"),
            job(COMPLETED, name="first"),
            job(WAITING, JOB + 1, deployment=101, **_SECOND),
            messages.review("requested", since="2025-01-15T10:05:03Z", job_name="second"),
        ),
        jobs={JOB: {"status": "completed"}, JOB + 1: {"status": "waiting"}},
        deployments={100: {"status": "approved"}, 101: {"status": "pending", "approved_at": None}},
        runs={1: {"total_jobs": 2, "completed_jobs": 1, "created_at": "2025-01-15T10:00:00.000Z"}},
    ),
    "partial_rerun": Scenario(
        inputs=story(
            messages.run("requested"),
            job(COMPLETED, conclusion="failure"),
            job(COMPLETED, JOB + 1),
            messages.run("completed"),
            job(QUEUED, JOB + 2, **_RERUN),
            job(COMPLETED, JOB + 3, **_RERUN),
            job(COMPLETED, JOB + 2, **_RERUN),
        ),
        jobs={JOB: {"run_attempt": 1}, JOB + 3: {"run_attempt": 2, "usage_in_seconds": 0}},
        runs={
            1: {"status": "completed", "total_jobs": 2, "failed_jobs": 1, "created_at": "2025-01-15T09:59:58.000Z"},
            2: {"total_jobs": 2, "completed_jobs": 2, "failed_jobs": 0},
        },
    ),
    "rename": Scenario(
        inputs=story(
            job(QUEUED),
            job(IN_PROGRESS),
            job(COMPLETED, repo=RENAMED),
            job(QUEUED, JOB + 1, repo=RENAMED),
        ),
        jobs={JOB: {"repo_full_name": RENAMED, "status": "completed"}, JOB + 1: {"repo_full_name": RENAMED}},
        runs={1: {"total_jobs": 2, "completed_jobs": 1}},
        ignored={RUNS: REPO_NAME, RUNNERS: REPO_NAME},
    ),
}
