"""What the reconciler is there for: the demo's jobs and machines of which nobody tells any more."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from local.payloads.jobs import job_delivery
from local.payloads.runners import instance_state, scheduled
from local.runner_lives import launched, runs_on
from local.tale import ON_DEMAND, PAYMENTS, PLATFORM, STOREFRONT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from local.payloads.subjects import Delivery
    from local.steps import Step
    from local.tale import Tale

_SOON = timedelta(seconds=1)


def completed_never_came(tale: Tale) -> Iterator[Delivery]:
    """It ended three hours ago, and its runner is gone: GitHub never sent a word of it."""
    job = tale.job(PAYMENTS, "CI", "load tests", minutes_ago=190)
    *sent, completed = tale.finished(job, conclusion="failure")
    yield from sent
    yield replace(completed, lost=True)


def completed_timed_out(tale: Tale) -> Iterator[Delivery]:
    """GitHub got no answer from us when the job ended, and only its log of deliveries knows."""
    *sent, completed = tale.finished(tale.job(PLATFORM, "Build", "publish", minutes_ago=30, labels=ON_DEMAND))
    yield from sent
    yield replace(completed, failed=True)


def never_started(tale: Tale) -> Iterator[Step]:
    """EC2 took the instance away before its runner registered: the job is still in GitHub's queue."""
    job = tale.job(STOREFRONT, "Nightly", "visual tests", minutes_ago=85)
    instance_id = tale.instance_id()
    yield job_delivery(job, "queued", job.created_at)
    yield scheduled(job, instance_id, job.created_at + _SOON)
    yield runs_on(job, instance_id, job.created_at + _SOON)
    yield instance_state(job, instance_id, "running", job.created_at + 2 * _SOON)


def outlived(tale: Tale, *, machines: tuple[str, ...]) -> Iterator[Step]:
    """Machines that are still there when their jobs have ended."""
    for machine in machines:
        job = tale.job(STOREFRONT, "CI", "unit tests", minutes_ago=40)
        queued, started, completed = tale.finished(job, machine=machine)
        yield queued
        yield from launched(job, machine, queued.sent_at + _SOON, up_at=started.sent_at - _SOON)
        yield started
        yield completed
