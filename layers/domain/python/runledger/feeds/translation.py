"""Translates a change of an item in a table into feed events. Pure.

Each function compares an item before and after a change. The stream reports changes in the order of the writes. Event
ids are derived from facts, not from records, so records that the stream repeats, or that the recovery of a table writes
again, lead to the same ids.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from runledger.feeds import release_translation
from runledger.feeds.events import FeedEvent, FeedType, event_id, present
from runledger.model import times
from runledger.model.inputs import EventType, Status
from runledger.model.job import FAILURES, is_carried_over
from runledger.model.ownership import Proof
from runledger.model.reports import REDELIVERY_DAYS, Approval, RunStatus
from runledger.model.runner import RunnerStatus
from runledger.tables import schema

Item = Mapping[str, Any]

JOBS, HISTORY = schema.WORKFLOW_JOBS.name, schema.WORKFLOW_JOB_EVENTS.name
RUNS, DEPLOYMENTS, RUNNERS = schema.WORKFLOW_RUNS.name, schema.DEPLOYMENTS.name, schema.RUNNERS.name
JOB_FIELDS = (
    *("installation_id", "job_id", "run_id", "run_attempt", "repo_full_name", "workflow_name", "job_name"),
    *("head_branch", "head_sha", "job_html_url", "labels", "status", "conclusion"),
    *("created_at", "scheduled_at", "started_at", "completed_at"),
    *("environment", "deployment_id", "approval_requested_at", "approved_at", "rejected_at"),
    *("runner_name", "instance_id", "instance_type", "instance_lifecycle", "pool_name"),
    *("was_interrupted", "interrupted_at", "terminated_at", "runner_requests", "runner_requested_at"),
    *("usage_in_seconds", "usage_in_dollars", "overall_queue_duration_in_ms"),
)
RUN_FIELDS = (
    *("installation_id", "run_id", "run_attempt", "repo_full_name", "workflow_id", "workflow_name"),
    *("head_branch", "head_sha", "run_html_url", "status", "conclusion", "created_at", "updated_at"),
    *("total_jobs", "completed_jobs", "failed_jobs"),
)
DEPLOYMENT_FIELDS = (
    *("installation_id", "deployment_id", "repo_full_name", "environment", "status", "requires_approval"),
    *("created_at", "approved_at", "rejected_at"),
)
RUNNER_FIELDS = (
    *("installation_id", "runner_id", "kind", "status", "repo_full_name", "pool_name", "job_id", "created_at"),
    *("suspected_at", "suspected_reason", "terminated_at", "terminated_reason"),
)
RECONCILIATION_FIELDS = ("installation_id", "job_id", "status", "action", "changes")
APPROVAL_TIMES = {
    "approval_requested_at": FeedType.APPROVAL_REQUESTED,
    "approved_at": FeedType.APPROVAL_GIVEN,
    "rejected_at": FeedType.APPROVAL_REFUSED,
}
DEPLOYMENT_DECISIONS = {
    Approval.APPROVED: (FeedType.DEPLOYMENT_APPROVED, "approved_at"),
    Approval.REJECTED: (FeedType.DEPLOYMENT_REJECTED, "rejected_at"),
}
JOB_TIMES = (
    *("created_at", "scheduled_at", "started_at", "completed_at", "queued_reported_at", "runner_requested_at"),
    *("interrupted_at", "terminated_at", *APPROVAL_TIMES),
)
# A run or deployment that appears this long after its end was looked up for a reader, so it isn't reported as new.
LOOKED_UP_AFTER_MS = OLD_AFTER_MS = REDELIVERY_DAYS * times.SECONDS_PER_DAY * times.MS_PER_SECOND


def translate(table: str, before: Item, after: Item, *, changed_at: str | None = None) -> list[FeedEvent]:
    """`before` is empty if the item is new. Items of other kinds in the same tables lead to no events.

    Nor do old jobs, which a migration or the recovery of a table has written, or old heads, which a lookup has changed.
    """
    if table == JOBS and changed_at and _is_old(after, changed_at):
        return []
    if table == release_translation.RELEASES and changed_at:
        since = release_translation.since(after)
        if since and times.ms_between(since, changed_at) > OLD_AFTER_MS:
            return []
    return list(TRANSLATIONS[table](before, after))


def job_payload(job: Item) -> dict[str, Any]:
    carried_over = is_carried_over(job["created_at"], job.get("completed_at"))
    return present(job, JOB_FIELDS) | ({"carried_over": True} if carried_over else {})


def job_event(kind: FeedType, job: Item, at: str, *identity: object, origin: str = JOBS, **more: Any) -> FeedEvent:
    installation_id, job_id = job["installation_id"], job["job_id"]
    return FeedEvent(
        installation_id=installation_id,
        event_id=event_id(installation_id, "job", job_id, kind, *identity),
        event_type=kind,
        occurred_at=at,
        subject=f"jobs/{job_id}",
        origin=origin,
        payload=job_payload(job) | more,
    )


def _job(before: Item, after: Item) -> Iterator[FeedEvent]:
    if not {"job_id", "status", "version"} <= after.keys():
        return  # the registry of installations
    was, status, updated_at = before.get("status"), after["status"], after["last_updated_at"]
    if status == Status.QUEUED and was != status:
        queued_at = after.get("queued_reported_at") or after["created_at"]
        yield job_event(FeedType.JOB_QUEUED, after, queued_at, queued_at)
    for name, kind in APPROVAL_TIMES.items():
        if name in after and name not in before:
            yield job_event(kind, after, after[name])
    if (requests := after.get("runner_requests", 0)) > before.get("runner_requests", 0):
        yield job_event(FeedType.RUNNER_REQUESTED, after, after.get("runner_requested_at") or updated_at, requests)
    if status == Status.IN_PROGRESS and was != status:
        yield job_event(FeedType.JOB_STARTED, after, after.get("started_at") or updated_at)
    if _is_interrupted(after) and not _is_interrupted(before):
        at = after.get("interrupted_at") or after.get("terminated_at") or updated_at
        yield job_event(FeedType.JOB_INTERRUPTED, after, at, after.get("instance_id"))
    conclusion = after.get("conclusion")
    if status == Status.COMPLETED and (was != status or conclusion != before.get("conclusion")):
        kind = FeedType.JOB_FAILED if conclusion in FAILURES else FeedType.JOB_COMPLETED
        yield job_event(kind, after, after.get("completed_at") or updated_at, conclusion)


def _is_old(job: Item, changed_at: str) -> bool:
    """The newest fact counts. A carried-over job is as new as the re-run that created it."""
    facts = present(job, JOB_TIMES).values()
    return bool(facts) and times.ms_between(max(facts), changed_at) > OLD_AFTER_MS


def _is_interrupted(job: Item) -> bool:
    """A machine often ends before GitHub reports that its job has completed. Until then, only a warning counts."""
    is_certain = "interrupted_at" in job or job.get("status") == Status.COMPLETED
    return bool(job.get("was_interrupted")) and is_certain


def _history(before: Item, after: Item) -> Iterator[FeedEvent]:
    """A job's item doesn't show that the reconciler changed it, so this event is derived from the job's history."""
    if before or after.get("event_type") != EventType.JOB_RECONCILED or "changes" not in after:
        return
    installation_id, job_id, kind = after["installation_id"], after["job_id"], FeedType.JOB_RECONCILED
    yield FeedEvent(
        installation_id=installation_id,
        event_id=event_id(installation_id, "job", job_id, kind, after["delivery_id"]),
        event_type=kind,
        occurred_at=after["timestamp"],
        subject=f"jobs/{job_id}",
        origin=HISTORY,
        payload=present(after, RECONCILIATION_FIELDS),
    )


def _run(before: Item, after: Item) -> Iterator[FeedEvent]:
    """Only runs that GitHub has reported: a run that is derived from its jobs may have more of them."""
    if not {"run_id", "run_attempt", "repo_full_name"} <= after.keys() or after.get("status") != RunStatus.COMPLETED:
        return
    conclusion = after.get("conclusion")
    if before.get("status") == RunStatus.COMPLETED and before.get("conclusion") == conclusion:
        return
    ended_at = after.get("updated_at") or after.get("checked_at") or after["created_at"]
    if _was_looked_up(before, after, since=ended_at):
        return
    installation_id, run_id, attempt = after["installation_id"], after["run_id"], after["run_attempt"]
    kind = FeedType.RUN_FAILED if conclusion in FAILURES else FeedType.RUN_COMPLETED
    yield FeedEvent(
        installation_id=installation_id,
        event_id=event_id(installation_id, "run", run_id, attempt, kind, conclusion),
        event_type=kind,
        occurred_at=ended_at,
        subject=f"runs/{run_id}/attempts/{attempt}",
        origin=RUNS,
        payload=present(after, RUN_FIELDS),
    )


def _deployment(before: Item, after: Item) -> Iterator[FeedEvent]:
    if not {"deployment_id", "repo_full_name", "status", "created_at"} <= after.keys():
        return  # a gate, or an item that records that GitHub has no such deployment
    if _was_looked_up(before, after, since=after["created_at"]):
        return
    if "status" not in before:
        yield _deployment_event(FeedType.DEPLOYMENT_CREATED, after, after["created_at"])
    if after["status"] in DEPLOYMENT_DECISIONS and after["status"] != before.get("status"):
        kind, decided_at = DEPLOYMENT_DECISIONS[after["status"]]
        yield _deployment_event(kind, after, after.get(decided_at) or after.get("checked_at") or after["created_at"])


def _deployment_event(kind: FeedType, deployment: Item, at: str) -> FeedEvent:
    installation_id, deployment_id = deployment["installation_id"], deployment["deployment_id"]
    return FeedEvent(
        installation_id=installation_id,
        event_id=event_id(installation_id, "deployment", deployment_id, kind),
        event_type=kind,
        occurred_at=at,
        subject=f"deployments/{deployment_id}",
        origin=DEPLOYMENTS,
        payload=present(deployment, DEPLOYMENT_FIELDS),
    )


def _runner(before: Item, after: Item) -> Iterator[FeedEvent]:
    """Only for the machine's proven owner, as in `ownership.is_visible_to`."""
    is_proven = after.get("proven_by") in (Proof.EVENT, Proof.TAG) and "contested_at" not in after
    if "runner_id" not in after or "installation_id" not in after or not is_proven:
        return
    suspected_at = after.get("suspected_at") or before.get("suspected_at")
    if "suspected_at" in after and "suspected_at" not in before:
        yield _runner_event(FeedType.RUNNER_ORPHANED, after, after["suspected_at"], suspected_at)
    if suspected_at and after.get("status") == RunnerStatus.CLEANED != before.get("status"):
        at = after.get("terminated_at") or after.get("cleaning_since") or suspected_at
        yield _runner_event(FeedType.RUNNER_CLEANED, after, at, suspected_at)


def _runner_event(kind: FeedType, runner: Item, at: str, *identity: object) -> FeedEvent:
    installation_id, runner_id = runner["installation_id"], runner["runner_id"]
    return FeedEvent(
        installation_id=installation_id,
        event_id=event_id(installation_id, "runner", runner_id, kind, *identity),
        event_type=kind,
        occurred_at=at,
        subject=f"runners/{runner_id}",
        origin=RUNNERS,
        payload=present(runner, RUNNER_FIELDS),
    )


def _was_looked_up(before: Item, after: Item, *, since: str) -> bool:
    if "status" in before or "checked_at" not in after:
        return False
    return times.ms_between(since, after["checked_at"]) > LOOKED_UP_AFTER_MS


TRANSLATIONS: Mapping[str, Callable[[Item, Item], Iterator[FeedEvent]]] = {
    JOBS: _job,
    HISTORY: _history,
    RUNS: _run,
    DEPLOYMENTS: _deployment,
    RUNNERS: _runner,
    release_translation.RELEASES: release_translation.translate,
}
