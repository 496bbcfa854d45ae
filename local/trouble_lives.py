"""The demo's troubles with runners: two are taken back, one is stolen, and one nobody had told of."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from local.payloads.jobs import job_delivery
from local.payloads.runners import interruption_warning, scheduled, task_state
from local.payloads.subjects import Runner
from local.runner_lives import cleaned, gone, launched, runs_on
from local.steps import Awaited
from local.tale import ON_DEMAND, PAYMENTS, PLATFORM, STOREFRONT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from local.payloads.subjects import Job
    from local.steps import Step
    from local.tale import Tale

BY_HAND_POOL = "benchmarks"


def interrupted(tale: Tale) -> Iterator[Step]:
    """Spot takes the task back under the job; the ledger has GitHub run it again, and this time it is spared."""
    job = tale.job(PAYMENTS, "Nightly", "integration tests", minutes_ago=70)
    task = tale.task()
    runner = Runner.on(task)
    at = _clock(job)
    yield job_delivery(job, "queued", at(0))
    yield scheduled(job, task, at(2))
    yield runs_on(job, task, at(2))
    yield task_state(job, task, "RUNNING", at(50))
    yield job_delivery(job, "in_progress", at(60), runner=runner, started_at=at(60))
    # ECS says when it happened; what EC2 says is dated by the bus, and the emulated one dates it when it is published.
    yield task_state(job, task, "RUNNING", at(300), taken_back_at=at(300))
    yield task_state(job, task, "STOPPED", at(420), taken_back_at=at(300))
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
    yield from tale.finished(tale.again(job, at(500)))


def stolen(tale: Tale) -> Iterator[Step]:
    """GitHub gives the runner that was launched for the first job to the second, so that the first needs another."""
    first = tale.job(STOREFRONT, "Containers", "build", minutes_ago=55)
    second = tale.sibling(first, "scan")
    launched_first, launched_then = tale.instance_id(), tale.instance_id()
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


def warned(tale: Tale, instance_id: str) -> Iterator[Step]:
    """Spot wants the instance back under the job, which has two minutes left."""
    job = tale.job(PLATFORM, "CI", "end-to-end tests", minutes_ago=6)
    queued, started, _ = tale.finished(job, machine=instance_id)
    at = _clock(job)
    yield queued
    yield from launched(job, instance_id, at(1), up_at=started.sent_at - timedelta(seconds=1))
    yield started
    yield interruption_warning(job, instance_id, tale.ago(seconds=30))


def started_by_hand(tale: Tale, instance_id: str) -> Iterator[Step]:
    """Somebody tries a big machine for the benchmarks; what it is, only EC2 can tell."""
    job = tale.job(PLATFORM, "Benchmarks", "benchmark", minutes_ago=5, labels=ON_DEMAND)
    at = _clock(job)
    runner = Runner.on(instance_id, prefix=BY_HAND_POOL)
    yield job_delivery(job, "queued", at(0))
    yield job_delivery(job, "in_progress", at(45), runner=runner, started_at=at(45))
    yield runs_on(job, instance_id, at(45))


def _clock(job: Job) -> Callable[[int], datetime]:
    return lambda seconds: job.created_at + timedelta(seconds=seconds)
