"""All scenarios of the demo: about fifty jobs over the last days, with all failures that Runledger handles."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from local.demo.generator import LEGACY, ON_DEMAND, PAYMENTS, PLATFORM, STOREFRONT, WEBSITE, Generator
from local.demo.payloads.installations import installation_delivery
from local.demo.payloads.jobs import carried_over, job_delivery
from local.demo.run_events import run_events
from local.demo.runner_events import runner_events
from local.demo.scenarios import approvals, lost_webhooks, runner_incidents
from local.demo.steps import deliveries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from local.demo.machines import Machines
    from local.demo.payloads.entities import Delivery
    from local.demo.steps import Step

MATRIX = tuple(f"test ({python}, {arch})" for python in ("3.11", "3.12", "3.13") for arch in ("amd64", "arm64"))


def all_steps(now: datetime, seed: int = 1, *, machines: Machines) -> list[Step]:
    """Return all steps in order. The same time, seed and machines produce the same steps."""
    generator = Generator(now, seed)
    scenarios: tuple[Callable[[Generator], Iterator[Step]], ...] = (
        installations,
        days_work,
        matrix,
        approvals.approved,
        approvals.rejected,
        approvals.pending,
        approvals.forgotten,
        cancelled_while_queued,
        skipped,
        redelivered,
        sent_by_two_hooks,
        late_queued,
        partial_rerun,
        still_queued,
        partial(at_work, machine=machines.at_work),
        runner_incidents.interrupted,
        runner_incidents.stolen,
        partial(runner_incidents.warned, instance_id=machines.warned),
        partial(runner_incidents.started_by_hand, instance_id=machines.by_hand),
        lost_webhooks.completed_never_came,
        lost_webhooks.completed_timed_out,
        lost_webhooks.never_started,
        partial(lost_webhooks.outlived, machines=(machines.outlived, machines.busy)),
    )
    steps = [step for scenario in scenarios for step in scenario(generator)]
    return sorted([*steps, *runner_events(steps), *run_events(deliveries(steps))], key=lambda each: each.sent_at)


def installations(generator: Generator) -> Iterator[Delivery]:
    """Two organisations have the App; a third has removed it."""
    for repositories in ((STOREFRONT, PAYMENTS), (PLATFORM,), (LEGACY,)):
        installation = generator.installation(*repositories)
        yield installation_delivery(installation, "created", installation.created_at)
    yield installation_delivery(installation, "deleted", generator.ago(days=1))


def days_work(generator: Generator) -> Iterator[Delivery]:
    """Pushes to three repositories; most jobs succeed."""
    for number in range(5):
        push = generator.job(STOREFRONT, "CI", "lint", minutes_ago=330 - number * 55)
        yield from generator.finished(push)
        outcome = "failure" if number == 3 else "success"
        yield from generator.finished(generator.sibling(push, "unit tests"), conclusion=outcome)
    for number in range(4):
        build = generator.job(PLATFORM, "Build", "build", minutes_ago=280 - number * 60, labels=ON_DEMAND)
        yield from generator.finished(build, conclusion="cancelled" if number == 2 else "success")
    for number in range(2):
        yield from generator.finished(generator.job(WEBSITE, "Pages", "publish", minutes_ago=200 - number * 90))


def matrix(generator: Generator) -> Iterator[Delivery]:
    """One run of six jobs. The last one fails."""
    first = generator.job(PAYMENTS, "Matrix", MATRIX[0], minutes_ago=95)
    legs = [first, *(generator.sibling(first, name) for name in MATRIX[1:])]
    for leg in legs:
        yield from generator.finished(leg, conclusion="failure" if leg is legs[-1] else "success")


def cancelled_while_queued(generator: Generator) -> Iterator[Delivery]:
    for repository in (STOREFRONT, PLATFORM):
        job = generator.job(repository, "CI", "integration tests", minutes_ago=75)
        yield job_delivery(job, "queued", job.created_at)
        at = job.created_at + timedelta(minutes=4)
        yield job_delivery(job, "completed", at, started_at=at, conclusion="cancelled")


def skipped(generator: Generator) -> Iterator[Delivery]:
    for repository in (PAYMENTS, WEBSITE):
        job = generator.job(repository, "CI", "publish preview", minutes_ago=60)
        yield job_delivery(job, "completed", job.created_at, started_at=job.created_at, conclusion="skipped")


def redelivered(generator: Generator) -> Iterator[Delivery]:
    """A redelivery by an operator: the same id, ten minutes later."""
    for sent in generator.finished(generator.job(PLATFORM, "Build", "package", minutes_ago=50)):
        yield sent
        yield replace(sent, sent_at=sent.sent_at + timedelta(minutes=10))


def sent_by_two_hooks(generator: Generator) -> Iterator[Delivery]:
    """A repository hook and an organisation hook: the same events under different ids."""
    job = generator.job(WEBSITE, "Pages", "check links", minutes_ago=45)
    runner = generator.runner(job)
    for hook in ("repository", "organisation"):
        yield job_delivery(job, "queued", job.created_at, hook=hook)
        started = job.created_at + timedelta(seconds=30)
        yield job_delivery(job, "in_progress", started, runner=runner, started_at=started, hook=hook)


def late_queued(generator: Generator) -> Iterator[Delivery]:
    """The only webhook of the demo that arrives late: after the job has completed."""
    queued, *others = generator.finished(generator.job(STOREFRONT, "CI", "smoke tests", minutes_ago=40))
    yield from others
    yield replace(queued, sent_at=others[-1].sent_at + timedelta(seconds=5))


def partial_rerun(generator: Generator) -> Iterator[Delivery]:
    """The failed job is re-run under a new id. The successful job is carried over as completed."""
    passed = generator.job(PAYMENTS, "Release", "build", minutes_ago=120)
    failed = generator.sibling(passed, "sign")
    *before, completed = generator.finished(passed)
    yield from (*before, completed)
    yield from generator.finished(failed, conclusion="failure")
    at = generator.ago(minutes=80)
    yield carried_over(completed, generator.rerun(passed, at))
    yield from generator.finished(generator.rerun(failed, at))


def still_queued(generator: Generator) -> Iterator[Delivery]:
    """One job has been queued for a long time, two were queued just now."""
    for minutes in (85, 2, 1):
        job = generator.job(STOREFRONT, "Nightly", f"shard {minutes}", minutes_ago=minutes)
        yield job_delivery(job, "queued", job.created_at)


def at_work(generator: Generator, *, machine: str) -> Iterator[Delivery]:
    """Jobs on a launcher's machine, and on the office machine."""
    for repository, instance_id in ((STOREFRONT, machine), (WEBSITE, None)):
        job = generator.job(repository, "CI", "end-to-end tests", minutes_ago=6)
        yield from generator.finished(job, machine=instance_id)[:-1]
