"""Events for findings that the reconciler writes to no table: stuck jobs and forgotten approvals. Pure.

Every pass finds them again. Their ids include the start time, so each appears in the feed once.
"""

from collections.abc import Mapping
from typing import Any

from runledger.feeds.events import FeedEvent, FeedType, event_id
from runledger.feeds.translation import job_event
from runledger.model.job import Job

RECONCILER = "reconciler"


def stuck_job(job: Job, *, since: str, at: str) -> FeedEvent:
    values = {name: value for name, value in vars(job).items() if value is not None}
    identity = (job.status, since)
    return job_event(FeedType.JOB_STUCK, values, at, *identity, origin=RECONCILER, stuck_since=since)


def forgotten_approval(approval: Mapping[str, Any], *, at: str) -> FeedEvent:
    """`approval` has the fields of `queries.forgotten_approvals.ForgottenApproval`."""
    found = {name: value for name, value in approval.items() if value is not None}
    installation_id, since = found["installation_id"], found["waiting_since"]
    named = (found.get("run_id"), found.get("run_attempt"), found.get("deployment_id"))
    return FeedEvent(
        installation_id=installation_id,
        event_id=event_id(installation_id, "approval", *named, FeedType.APPROVAL_FORGOTTEN, since),
        event_type=FeedType.APPROVAL_FORGOTTEN,
        occurred_at=at,
        subject=f"runs/{named[0]}/attempts/{named[1]}",
        origin=RECONCILER,
        payload=found,
    )
