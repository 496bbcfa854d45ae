"""Runner incidents: two spot interruptions, a runner that took another job, and a runner without a launcher."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from local.demo.generator import ON_DEMAND, PAYMENTS, PLATFORM, STOREFRONT
from local.demo.payloads.entities import Runner
from local.demo.payloads.jobs import job_delivery
from local.demo.payloads.runners import interruption_warning, scheduled, task_state
from local.demo.runner_events import cleaned, gone, launched, runs_on
from local.demo.steps import Awaited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from local.demo.generator import Generator
    from local.demo.payloads.entities import Job
    from local.demo.steps import Step

BY_HAND_POOL = "benchmarks"


def interrupted(generator: Generator) -> Iterator[Step]:
    """A spot interruption stops the task during the job. Runledger requests a re-run, which succeeds."""
    job = generator.job(PAYMENTS, "Nightly", "integration tests", minutes_ago=70)
    task = generator.task()
    runner = Runner.on(task)
    at = _clock(job)
    yield job_delivery(job, "queued", at(0))
    yield scheduled(job, task, at(2))
    yield runs_on(job, task, at(2))
    yield task_state(job, task, "RUNNING", at(50))
    yield job_delivery(job, "in_progress", at(60), runner=runner, started_at=at(60))
    yield task_state(job, task, "RUNNING", at(300), interrupted_at=at(300))
    yield task_state(job, task, "STOPPED", at(420), interrupted_at=at(300))
    yield cleaned(job, task, at(420))
    yield job_delivery(job, "completed", at(480), runner=runner, started_at=at(60), conclusion="failure")
    yield Awaited(
        subject=job,
        sent_at=at(490),
        table="workflow_runs",
        key=job.run.ledger_key,
        attribute="rerun_result",
        value="requested",
    )
    yield from generator.finished(generator.rerun(job, at(500)))


def stolen(generator: Generator) -> Iterator[Step]:
    """GitHub assigns the runner that was launched for the first job to the second, so the first needs another."""
    first = generator.job(STOREFRONT, "Containers", "build", minutes_ago=55)
    second = generator.sibling(first, "scan")
    launched_first, launched_then = generator.instance_id(), generator.instance_id()
    runner, other = Runner.on(launched_first), Runner.on(launched_then)
    at = _clock(first)
    yield job_delivery(first, "queued", at(0))
    yield job_delivery(second, "queued", at(1))
    yield from launched(first, launched_first, at(2), up_at=at(35))
    yield job_delivery(second, "in_progress", at(40), runner=runner, started_at=at(40))
    yield runs_on(second, launched_first, at(40))
    yield from launched(first, launched_then, at(60), up_at=at(95), instead_of=launched_first)
    yield job_delivery(first, "in_progress", at(100), runner=other, started_at=at(100))
    yield job_delivery(second, "completed", at(220), runner=runner, started_at=at(40), conclusion="success")
    yield from gone(second, launched_first, at(235))
    yield job_delivery(first, "completed", at(400), runner=other, started_at=at(100), conclusion="success")
    yield from gone(first, launched_then, at(415))


def warned(generator: Generator, instance_id: str) -> Iterator[Step]:
    """A spot interruption warning during the job, which has two minutes left."""
    job = generator.job(PLATFORM, "CI", "end-to-end tests", minutes_ago=6)
    queued, started, _ = generator.finished(job, machine=instance_id)
    at = _clock(job)
    yield queued
    yield from launched(job, instance_id, at(1), up_at=started.sent_at - timedelta(seconds=1))
    yield started
    yield interruption_warning(job, instance_id, generator.ago(seconds=30))


def started_by_hand(generator: Generator, instance_id: str) -> Iterator[Step]:
    """A machine that was started manually. Only EC2 has its details."""
    job = generator.job(PLATFORM, "Benchmarks", "benchmark", minutes_ago=5, labels=ON_DEMAND)
    at = _clock(job)
    runner = Runner.on(instance_id, prefix=BY_HAND_POOL)
    yield job_delivery(job, "queued", at(0))
    yield job_delivery(job, "in_progress", at(45), runner=runner, started_at=at(45))
    yield runs_on(job, instance_id, at(45))


def _clock(job: Job) -> Callable[[int], datetime]:
    return lambda seconds: job.created_at + timedelta(seconds=seconds)
