"""The demo's deployments, which wait until somebody approves them, or does not."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from local.payloads.deployments import deployment_created, deployment_review, deployment_status
from local.payloads.jobs import job_delivery
from local.tale import PAYMENTS, PLATFORM, STOREFRONT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from local.payloads.subjects import Delivery, Job
    from local.tale import Tale

DAYS_FORGOTTEN = 3


def approved(tale: Tale) -> Iterator[Delivery]:
    """After twenty minutes, and then it went out."""
    job = tale.job(STOREFRONT, "Deploy", "deploy", minutes_ago=140, environment="production")
    assert job.deployment
    yield from _asked(job)
    at = job.created_at + timedelta(minutes=20)
    yield deployment_review(job, job.deployment, "approved", at)
    queued, started, completed = tale.finished(job, queued_at=at + timedelta(seconds=1))
    yield queued
    yield started
    yield deployment_status(job, job.deployment, "in_progress", started.happened_at)
    yield completed
    yield deployment_status(job, job.deployment, "success", completed.happened_at)


def rejected(tale: Tale) -> Iterator[Delivery]:
    """After ten minutes: the job ends there and never had a runner."""
    job = tale.job(STOREFRONT, "Deploy", "deploy", minutes_ago=65, environment="production")
    assert job.deployment
    yield from _asked(job)
    at = job.created_at + timedelta(minutes=10)
    yield deployment_review(job, job.deployment, "rejected", at)
    ended = at + timedelta(seconds=1)
    yield job_delivery(job, "completed", ended, started_at=ended, conclusion="failure")
    yield deployment_status(job, job.deployment, "failure", ended)


def pending(tale: Tale) -> Iterator[Delivery]:
    yield from _asked(tale.job(PAYMENTS, "Deploy", "deploy", minutes_ago=35, environment="production"))


def forgotten(tale: Tale) -> Iterator[Delivery]:
    """Whoever was asked was on holiday."""
    minutes_ago = int(timedelta(days=DAYS_FORGOTTEN, hours=1).total_seconds()) // 60
    yield from _asked(tale.job(PLATFORM, "Deploy", "deploy", minutes_ago=minutes_ago, environment="staging"))


def _asked(job: Job) -> Iterator[Delivery]:
    assert job.deployment
    at = job.created_at
    yield job_delivery(job, "queued", at)
    yield deployment_created(job, job.deployment, at + timedelta(seconds=1))
    yield job_delivery(job, "waiting", at + timedelta(seconds=2))
    yield deployment_status(job, job.deployment, "waiting", at + timedelta(seconds=2))
    yield deployment_review(job, job.deployment, "requested", at + timedelta(seconds=3))
