"""Deployments that wait for an approval."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from local.demo.generator import PAYMENTS, PLATFORM, STOREFRONT
from local.demo.payloads.deployments import deployment_created, deployment_review, deployment_status
from local.demo.payloads.jobs import job_delivery

if TYPE_CHECKING:
    from collections.abc import Iterator

    from local.demo.generator import Generator
    from local.demo.payloads.entities import Delivery, Job

DAYS_FORGOTTEN = 3


def approved(generator: Generator) -> Iterator[Delivery]:
    """Approved after twenty minutes, then deployed."""
    job = generator.job(STOREFRONT, "Deploy", "deploy", minutes_ago=140, environment="production")
    assert job.deployment
    yield from _requested(job)
    at = job.created_at + timedelta(minutes=20)
    yield deployment_review(job, job.deployment, "approved", at)
    queued, started, completed = generator.finished(job, queued_at=at + timedelta(seconds=1))
    yield queued
    yield started
    yield deployment_status(job, job.deployment, "in_progress", started.happened_at)
    yield completed
    yield deployment_status(job, job.deployment, "success", completed.happened_at)


def rejected(generator: Generator) -> Iterator[Delivery]:
    """Rejected after ten minutes. The job ends without a runner."""
    job = generator.job(STOREFRONT, "Deploy", "deploy", minutes_ago=65, environment="production")
    assert job.deployment
    yield from _requested(job)
    at = job.created_at + timedelta(minutes=10)
    yield deployment_review(job, job.deployment, "rejected", at)
    ended = at + timedelta(seconds=1)
    yield job_delivery(job, "completed", ended, started_at=ended, conclusion="failure")
    yield deployment_status(job, job.deployment, "failure", ended)


def pending(generator: Generator) -> Iterator[Delivery]:
    yield from _requested(generator.job(PAYMENTS, "Deploy", "deploy", minutes_ago=35, environment="production"))


def forgotten(generator: Generator) -> Iterator[Delivery]:
    """Never reviewed."""
    minutes_ago = int(timedelta(days=DAYS_FORGOTTEN, hours=1).total_seconds()) // 60
    yield from _requested(generator.job(PLATFORM, "Deploy", "deploy", minutes_ago=minutes_ago, environment="staging"))


def _requested(job: Job) -> Iterator[Delivery]:
    assert job.deployment
    at = job.created_at
    yield job_delivery(job, "queued", at)
    yield deployment_created(job, job.deployment, at + timedelta(seconds=1))
    yield job_delivery(job, "waiting", at + timedelta(seconds=2))
    yield deployment_status(job, job.deployment, "waiting", at + timedelta(seconds=2))
    yield deployment_review(job, job.deployment, "requested", at + timedelta(seconds=3))
