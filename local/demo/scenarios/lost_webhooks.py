"""Jobs and machines whose events were lost; the reconciler repairs them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from local.demo.generator import ON_DEMAND, PAYMENTS, PLATFORM, STOREFRONT
from local.demo.payloads.jobs import job_delivery
from local.demo.payloads.runners import instance_state, scheduled
from local.demo.runner_events import launched, runs_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from local.demo.generator import Generator
    from local.demo.payloads.entities import Delivery
    from local.demo.steps import Step

_SOON = timedelta(seconds=1)


def completed_never_came(generator: Generator) -> Iterator[Delivery]:
    """Ended three hours ago, and its runner is gone. The completion webhook was never sent."""
    job = generator.job(PAYMENTS, "CI", "load tests", minutes_ago=190)
    *sent, completed = generator.finished(job, conclusion="failure")
    yield from sent
    yield replace(completed, lost=True)


def completed_timed_out(generator: Generator) -> Iterator[Delivery]:
    """The delivery of the completion webhook timed out. It is only in GitHub's delivery log."""
    *sent, completed = generator.finished(generator.job(PLATFORM, "Build", "publish", minutes_ago=30, labels=ON_DEMAND))
    yield from sent
    yield replace(completed, failed=True)


def never_started(generator: Generator) -> Iterator[Step]:
    """The instance was terminated before its runner registered. The job is still queued on GitHub."""
    job = generator.job(STOREFRONT, "Nightly", "visual tests", minutes_ago=85)
    instance_id = generator.instance_id()
    yield job_delivery(job, "queued", job.created_at)
    yield scheduled(job, instance_id, job.created_at + _SOON)
    yield runs_on(job, instance_id, job.created_at + _SOON)
    yield instance_state(job, instance_id, "running", job.created_at + 2 * _SOON)


def outlived(generator: Generator, *, machines: tuple[str, ...]) -> Iterator[Step]:
    """Machines that still run after their jobs have ended."""
    for machine in machines:
        job = generator.job(STOREFRONT, "CI", "unit tests", minutes_ago=40)
        queued, started, completed = generator.finished(job, machine=machine)
        yield queued
        yield from launched(job, machine, queued.sent_at + _SOON, up_at=started.sent_at - _SOON)
        yield started
        yield completed
