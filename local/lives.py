"""The demo workload: the lives of some fifty jobs over the last days, with every trouble that GitHub and EC2 know."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from local import approval_lives, lost_lives, trouble_lives
from local.payloads.installations import installation_delivery
from local.payloads.jobs import job_delivery
from local.run_lives import run_lives
from local.runner_lives import runner_lives
from local.steps import deliveries
from local.tale import LEGACY, ON_DEMAND, PAYMENTS, PLATFORM, STOREFRONT, WEBSITE, Tale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from local.machines import Machines
    from local.payloads.subjects import Delivery
    from local.steps import Step

MATRIX = tuple(f"test ({python}, {arch})" for python in ("3.11", "3.12", "3.13") for arch in ("amd64", "arm64"))


def lives(now: datetime, seed: int = 1, *, machines: Machines) -> list[Step]:
    """Return every step in order; the same moment, seed and machines give the same lives."""
    tale = Tale(now, seed)
    stories: tuple[Callable[[Tale], Iterator[Step]], ...] = (
        installations,
        days_work,
        matrix,
        approval_lives.approved,
        approval_lives.rejected,
        approval_lives.pending,
        approval_lives.forgotten,
        cancelled_while_queued,
        skipped,
        redelivered,
        sent_by_two_hooks,
        late_queued,
        partial_rerun,
        still_queued,
        partial(at_work, machine=machines.at_work),
        trouble_lives.interrupted,
        trouble_lives.stolen,
        partial(trouble_lives.warned, instance_id=machines.warned),
        partial(trouble_lives.started_by_hand, instance_id=machines.by_hand),
        lost_lives.completed_never_came,
        lost_lives.completed_timed_out,
        lost_lives.never_started,
        partial(lost_lives.outlived, machines=(machines.outlived, machines.busy)),
    )
    told = [each for story in stories for each in story(tale)]
    return sorted([*told, *runner_lives(told), *run_lives(deliveries(told))], key=lambda each: each.sent_at)


def installations(tale: Tale) -> Iterator[Delivery]:
    """Two organisations have the App; a third has removed it."""
    for repositories in ((STOREFRONT, PAYMENTS), (PLATFORM,), (LEGACY,)):
        installation = tale.installation(*repositories)
        yield installation_delivery(installation, "created", installation.created_at)
    yield installation_delivery(installation, "deleted", tale.ago(days=1))


def days_work(tale: Tale) -> Iterator[Delivery]:
    """Pushes to three repositories, most of them good."""
    for number in range(5):
        push = tale.job(STOREFRONT, "CI", "lint", minutes_ago=330 - number * 55)
        yield from tale.finished(push)
        outcome = "failure" if number == 3 else "success"
        yield from tale.finished(tale.sibling(push, "unit tests"), conclusion=outcome)
    for number in range(4):
        build = tale.job(PLATFORM, "Build", "build", minutes_ago=280 - number * 60, labels=ON_DEMAND)
        yield from tale.finished(build, conclusion="cancelled" if number == 2 else "success")
    for number in range(2):
        yield from tale.finished(tale.job(WEBSITE, "Pages", "publish", minutes_ago=200 - number * 90))


def matrix(tale: Tale) -> Iterator[Delivery]:
    """One run of six jobs, of which the last fails."""
    first = tale.job(PAYMENTS, "Matrix", MATRIX[0], minutes_ago=95)
    legs = [first, *(tale.sibling(first, name) for name in MATRIX[1:])]
    for leg in legs:
        yield from tale.finished(leg, conclusion="failure" if leg is legs[-1] else "success")


def cancelled_while_queued(tale: Tale) -> Iterator[Delivery]:
    for repository in (STOREFRONT, PLATFORM):
        job = tale.job(repository, "CI", "integration tests", minutes_ago=75)
        yield job_delivery(job, "queued", job.created_at)
        at = job.created_at + timedelta(minutes=4)
        yield job_delivery(job, "completed", at, started_at=at, conclusion="cancelled")


def skipped(tale: Tale) -> Iterator[Delivery]:
    for repository in (PAYMENTS, WEBSITE):
        job = tale.job(repository, "CI", "publish preview", minutes_ago=60)
        yield job_delivery(job, "completed", job.created_at, started_at=job.created_at, conclusion="skipped")


def redelivered(tale: Tale) -> Iterator[Delivery]:
    """An operator asked GitHub for a redelivery: the same id again, ten minutes later."""
    for sent in tale.finished(tale.job(PLATFORM, "Build", "package", minutes_ago=50)):
        yield sent
        yield replace(sent, sent_at=sent.sent_at + timedelta(minutes=10))


def sent_by_two_hooks(tale: Tale) -> Iterator[Delivery]:
    """A hook of the repository and one of its organisation: the same facts under different ids."""
    job = tale.job(WEBSITE, "Pages", "check links", minutes_ago=45)
    runner = tale.runner(job)
    for hook in ("repository", "organisation"):
        yield job_delivery(job, "queued", job.created_at, hook=hook)
        started = job.created_at + timedelta(seconds=30)
        yield job_delivery(job, "in_progress", started, runner=runner, started_at=started, hook=hook)


def late_queued(tale: Tale) -> Iterator[Delivery]:
    for repository in (STOREFRONT, PLATFORM):
        queued, *others = tale.finished(tale.job(repository, "CI", "smoke tests", minutes_ago=40))
        yield from others
        yield replace(queued, sent_at=others[-1].sent_at + timedelta(seconds=5))


def partial_rerun(tale: Tale) -> Iterator[Delivery]:
    """The failed job runs again under a new id; the one that had passed is carried over, completed at once."""
    passed = tale.job(PAYMENTS, "Release", "build", minutes_ago=120)
    failed = tale.sibling(passed, "sign")
    yield from tale.finished(passed)
    yield from tale.finished(failed, conclusion="failure")
    at = tale.ago(minutes=80)
    carried = tale.again(passed, at)
    yield job_delivery(carried, "completed", at, started_at=at, conclusion="success")
    yield from tale.finished(tale.again(failed, at))


def still_queued(tale: Tale) -> Iterator[Delivery]:
    """One for long, two have just come."""
    for minutes in (85, 2, 1):
        job = tale.job(STOREFRONT, "Nightly", f"shard {minutes}", minutes_ago=minutes)
        yield job_delivery(job, "queued", job.created_at)


def at_work(tale: Tale, *, machine: str) -> Iterator[Delivery]:
    """On a machine that a launcher started, and on the one in the office."""
    for repository, instance_id in ((STOREFRONT, machine), (WEBSITE, None)):
        job = tale.job(repository, "CI", "end-to-end tests", minutes_ago=6)
        yield from tale.finished(job, machine=instance_id)[:-1]
