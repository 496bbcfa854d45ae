"""Stories of jobs, gates and runs: what is received, in the order in which GitHub sends it."""

from collections.abc import Mapping
from typing import Any

from runledger.model import Receipt
from runledger.reading import webhooks
from runledger.reports import Report

from tests import messages
from tests.ledgers import DEPLOYMENTS, EVENTS, JOBS, RUNS
from tests.messages import Message
from tests.simulation.differences import Ignored
from tests.webhooks import COMPLETED, IN_PROGRESS, JOB, QUEUED, QUEUED_AGAIN, WAITING, delivery, payload

SECONDS_APART = 60

# Attributes that depend on the order of processing; docs/adr/0002-gates-runs-and-reports.md gives the reasons.
ORDER_OF_PROCESSING: Ignored = {
    JOBS: frozenset({"inputs", "version", "first_seen_at"}),
    EVENTS: frozenset({"changes", "status", "version"}),
    RUNS: frozenset({"status", "by_state", "created_at", "repo_full_name", "checked_at", "ttl"}),
    DEPLOYMENTS: frozenset({"checked_at", "repo_full_name", "ttl"}),
}


def job(
    step: str, job_id: int = JOB, *, deployment: int | None = None, repo: str | None = None, **about: Any
) -> Message:
    body = payload(step, job_id=job_id, **about)
    if deployment is not None:
        body["deployment"] = {"id": deployment, "environment": messages.ENVIRONMENT}
    if repo is not None:
        body["repository"]["full_name"] = repo
    return "workflow_job", body


def _matrix(decision: str) -> list[Message]:
    jobs = [(JOB + n, 100 + n, f"test ({n})") for n in range(3)]
    waiting = [job(WAITING, each, deployment=deployment, name=name) for each, deployment, name in jobs]
    if decision == "approved":
        ends = [job(QUEUED_AGAIN, each, deployment=deployment, name=name) for each, deployment, name in jobs]
    else:
        ends = [
            job(COMPLETED, each, name=name, conclusion="failure", runner_id=0, runner_name=None)
            for each, _, name in jobs
        ]
    return [*waiting, messages.review(decision), *ends]


_SECOND: dict[str, Any] = {"created_at": "2025-01-15T10:05:00Z", "started_at": "2025-01-15T10:05:00Z", "name": "second"}
_RERUN: dict[str, Any] = {"run_attempt": 2, "created_at": "2025-01-15T10:20:00Z"}

STORIES: Mapping[str, list[Message]] = {
    "life with approval": [
        job(QUEUED),
        job(WAITING, deployment=100),
        messages.review("requested", since="2025-01-15T10:00:03Z"),
        messages.review("approved"),
        job(QUEUED_AGAIN, deployment=100),
        job(IN_PROGRESS),
        job(COMPLETED),
    ],
    "approved matrix": _matrix("approved"),
    "rejected matrix": _matrix("rejected"),
    "two jobs in sequence": [
        job(WAITING, deployment=100, name="first"),
        messages.review("requested", since="2025-01-15T10:00:03Z", job_name="first"),
        messages.review("approved"),
        job(COMPLETED, name="first"),
        job(WAITING, JOB + 1, deployment=101, **_SECOND),
        messages.review("requested", since="2025-01-15T10:05:03Z", job_name="second"),
    ],
    "partial re-run": [
        messages.run("requested"),
        job(COMPLETED, conclusion="failure"),
        job(COMPLETED, JOB + 1),
        messages.run("completed"),
        job(QUEUED, JOB + 2, **_RERUN),
        job(COMPLETED, JOB + 3, **_RERUN),
        job(COMPLETED, JOB + 2, **_RERUN),
    ],
    "rename": [
        job(QUEUED),
        job(IN_PROGRESS),
        job(COMPLETED, repo="lineville/renamed"),
        job(QUEUED, JOB + 1, repo="lineville/renamed"),
    ],
}


def inputs(story: str) -> list[Receipt | Report]:
    found: list[Receipt | Report] = []
    for place, (event, body) in enumerate(STORIES[story]):
        found += webhooks.read(delivery(body, guid=f"{story} {place}", at=SECONDS_APART * place, event=event))
    return found
