"""Events of runners, which are launched for a job, start, and terminate after it."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from local.demo.payloads.entities import Delivery, Job
from local.demo.payloads.runners import instance_of, instance_state, scheduled
from local.demo.steps import Awaited

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from local.demo.steps import Step

_SOON = timedelta(seconds=1)
_IDLE = timedelta(seconds=10)


def runner_events(steps: Iterable[Step]) -> Iterator[Step]:
    """Skips the jobs of scenarios that define their own runner events."""
    of_job: dict[Job, list[Step]] = defaultdict(list)
    for step in steps:
        if isinstance(step.subject, Job):
            of_job[step.subject].append(step)
    for job, job_steps in of_job.items():
        deliveries = [step for step in job_steps if isinstance(step, Delivery)]
        if len(deliveries) == len(job_steps):
            yield from _life(job, [each for each in deliveries if each.event == "workflow_job"])


def launched(
    job: Job, instance_id: str, at: datetime, *, up_at: datetime, instead_of: str | None = None
) -> Iterator[Step]:
    """Waits for the ledger, because the demo doesn't have the minute that a real runner takes to start."""
    yield scheduled(job, instance_id, at, instead_of=instead_of)
    yield runs_on(job, instance_id, at)
    yield instance_state(job, instance_id, "running", up_at)


def runs_on(job: Job, runner_id: str, at: datetime) -> Awaited:
    return Awaited(
        subject=job,
        sent_at=at,
        table="workflow_jobs",
        key=job.ledger_key,
        attribute="instance_id",
        value=runner_id,
    )


def gone(job: Job, instance_id: str, at: datetime) -> Iterator[Step]:
    yield instance_state(job, instance_id, "shutting-down", at)
    yield cleaned(job, instance_id, at)


def cleaned(job: Job, runner_id: str, at: datetime) -> Awaited:
    return Awaited(subject=job, sent_at=at, table="runners", key=runner_id, attribute="status", value="cleaned")


def _life(job: Job, deliveries: list[Delivery]) -> Iterator[Step]:
    started = next((each for each in deliveries if each.payload["action"] == "in_progress"), None)
    instance_id = instance_of(started) if started else None
    if not started or not instance_id:
        return
    queued_at = max(each.happened_at for each in deliveries if each.payload["action"] == "queued")
    yield from launched(job, instance_id, queued_at + _SOON, up_at=started.happened_at - _SOON)
    if completed := next((each for each in deliveries if each.payload["action"] == "completed"), None):
        yield from gone(job, instance_id, completed.happened_at + _IDLE)
