"""The demo workload: the lives of some forty jobs over the last hours, with every kind of trouble that GitHub knows."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

from local.payloads import Delivery, Job, Repository, Runner, delivery

if TYPE_CHECKING:
    from collections.abc import Iterator

STOREFRONT = Repository(full_name="acme/storefront", id=610001001, private=True, installation_id=41000001)
PAYMENTS = Repository(full_name="acme/payments", id=610001002, private=True, installation_id=41000001)
PLATFORM = Repository(full_name="globex/platform", id=620002001, private=False, installation_id=41000002)
WEBSITE = Repository(full_name="octo-labs/website", id=630003001, private=False)

SPOT = ("self-hosted", "linux", "x64", "spot")
ON_DEMAND = ("self-hosted", "linux", "arm64")
MATRIX = tuple(f"test ({python}, {arch})" for python in ("3.11", "3.12", "3.13") for arch in ("amd64", "arm64"))


def lives(now: datetime, seed: int = 1) -> list[Delivery]:
    """Return every delivery in the order of sending; the same moment and seed give the same lives."""
    tale = _Tale(now, seed)
    stories = (
        tale.days_work(),
        tale.matrix(),
        tale.approvals(),
        tale.cancelled_while_queued(),
        tale.skipped(),
        tale.redelivered(),
        tale.sent_by_two_hooks(),
        tale.late_queued(),
        tale.completed_never_came(),
        tale.partial_rerun(),
        tale.still_open(),
    )
    told = [each for story in stories for each in story]
    return sorted(told, key=lambda each: each.sent_at)


class _Tale:
    def __init__(self, now: datetime, seed: int) -> None:
        self._now = now.replace(microsecond=0)
        self._random = Random(f"{seed} {self._now.isoformat()}")  # noqa: S311
        self._last_id = int(self._now.timestamp()) * 100

    def days_work(self) -> Iterator[Delivery]:
        """Pushes to three repositories, most of them good."""
        for number in range(5):
            push = self._job(STOREFRONT, "CI", "lint", minutes_ago=330 - number * 55)
            yield from self._finished(push)
            outcome = "failure" if number == 3 else "success"
            yield from self._finished(self._sibling(push, "unit tests"), conclusion=outcome)
        for number in range(4):
            build = self._job(PLATFORM, "Build", "build", minutes_ago=280 - number * 60, labels=ON_DEMAND)
            yield from self._finished(build, conclusion="cancelled" if number == 2 else "success")
        for number in range(2):
            yield from self._finished(self._job(WEBSITE, "Pages", "publish", minutes_ago=200 - number * 90))

    def matrix(self) -> Iterator[Delivery]:
        """One run of six jobs, of which the last fails."""
        first = self._job(PAYMENTS, "Matrix", MATRIX[0], minutes_ago=95)
        legs = [first, *(self._sibling(first, name) for name in MATRIX[1:])]
        for leg in legs:
            yield from self._finished(leg, conclusion="failure" if leg is legs[-1] else "success")

    def approvals(self) -> Iterator[Delivery]:
        """One deployment was approved after twenty minutes, another still waits."""
        approved = self._job(STOREFRONT, "Deploy", "deploy", minutes_ago=140, environment="production")
        at = approved.created_at
        yield delivery(approved, "queued", at)
        yield delivery(approved, "waiting", at + timedelta(seconds=2))
        ready = at + timedelta(minutes=20)
        yield from self._finished(approved, queued_at=ready)
        pending = self._job(PAYMENTS, "Deploy", "deploy", minutes_ago=35, environment="production")
        yield delivery(pending, "queued", pending.created_at)
        yield delivery(pending, "waiting", pending.created_at + timedelta(seconds=1))

    def cancelled_while_queued(self) -> Iterator[Delivery]:
        for repository in (STOREFRONT, PLATFORM):
            job = self._job(repository, "CI", "integration tests", minutes_ago=75)
            yield delivery(job, "queued", job.created_at)
            at = job.created_at + timedelta(minutes=4)
            yield delivery(job, "completed", at, started_at=at, conclusion="cancelled")

    def skipped(self) -> Iterator[Delivery]:
        for repository in (PAYMENTS, WEBSITE):
            job = self._job(repository, "CI", "publish preview", minutes_ago=60)
            yield delivery(job, "completed", job.created_at, started_at=job.created_at, conclusion="skipped")

    def redelivered(self) -> Iterator[Delivery]:
        """An operator asked GitHub for a redelivery: the same id again, ten minutes later."""
        for sent in self._finished(self._job(PLATFORM, "Build", "package", minutes_ago=50)):
            yield sent
            yield replace(sent, sent_at=sent.sent_at + timedelta(minutes=10))

    def sent_by_two_hooks(self) -> Iterator[Delivery]:
        """A hook of the repository and one of its organisation: the same facts under different ids."""
        job = self._job(WEBSITE, "Pages", "check links", minutes_ago=45)
        runner = self._runner()
        for hook in ("repository", "organisation"):
            yield delivery(job, "queued", job.created_at, hook=hook)
            started = job.created_at + timedelta(seconds=30)
            yield delivery(job, "in_progress", started, runner=runner, started_at=started, hook=hook)

    def late_queued(self) -> Iterator[Delivery]:
        for repository in (STOREFRONT, PLATFORM):
            queued, *others = self._finished(self._job(repository, "CI", "smoke tests", minutes_ago=40))
            yield from others
            yield replace(queued, sent_at=others[-1].sent_at + timedelta(seconds=5))

    def completed_never_came(self) -> Iterator[Delivery]:
        """Its spot instance died three hours ago, and GitHub never said so."""
        yield from self._finished(self._job(PAYMENTS, "CI", "load tests", minutes_ago=190))[:-1]

    def partial_rerun(self) -> Iterator[Delivery]:
        """The failed job runs again under a new id; the one that had passed is carried over, completed at once."""
        passed = self._job(PAYMENTS, "Release", "build", minutes_ago=120)
        failed = self._sibling(passed, "sign")
        yield from self._finished(passed)
        yield from self._finished(failed, conclusion="failure")
        again = self._now - timedelta(minutes=80)
        carried = self._sibling(passed, "build", run_attempt=2, created_at=again)
        yield delivery(carried, "completed", again, runner=self._runner(), started_at=again, conclusion="success")
        yield from self._finished(self._sibling(passed, "sign", run_attempt=2, created_at=again))

    def still_open(self) -> Iterator[Delivery]:
        """One job is stuck in the queue, two have just come, and three are at work."""
        for minutes in (85, 2, 1):
            job = self._job(STOREFRONT, "Nightly", f"shard {minutes}", minutes_ago=minutes)
            yield delivery(job, "queued", job.created_at)
        for repository in (STOREFRONT, PLATFORM, WEBSITE):
            yield from self._finished(self._job(repository, "CI", "end-to-end tests", minutes_ago=6))[:-1]

    def _finished(self, job: Job, *, conclusion: str = "success", queued_at: datetime | None = None) -> list[Delivery]:
        queued = queued_at or job.created_at
        started = queued + timedelta(seconds=self._random.randint(4, 240))
        completed = started + timedelta(seconds=self._random.randint(30, 900))
        runner = self._runner()
        return [
            delivery(job, "queued", queued),
            delivery(job, "in_progress", started, runner=runner, started_at=started),
            delivery(job, "completed", completed, runner=runner, started_at=started, conclusion=conclusion),
        ]

    def _job(
        self,
        repository: Repository,
        workflow_name: str,
        name: str,
        *,
        minutes_ago: int,
        labels: tuple[str, ...] = SPOT,
        environment: str | None = None,
    ) -> Job:
        """A job of a run of its own."""
        return Job(
            id=self._new_id(),
            run_id=self._new_id(),
            run_attempt=1,
            name=name,
            workflow_name=workflow_name,
            repository=repository,
            head_sha=f"{self._random.getrandbits(160):040x}",
            head_branch=self._random.choice(["main", "main", "feature/checkout", "fix/timeouts"]),
            labels=labels,
            created_at=self._now - timedelta(minutes=minutes_ago, seconds=self._random.randint(0, 59)),
            environment=environment,
        )

    def _sibling(self, job: Job, name: str, *, run_attempt: int = 1, created_at: datetime | None = None) -> Job:
        """Another job of the same run."""
        return replace(
            job, id=self._new_id(), name=name, run_attempt=run_attempt, created_at=created_at or job.created_at
        )

    def _runner(self) -> Runner:
        """Named after its instance, as launchers do."""
        return Runner(id=self._random.randint(1000, 9999), name=f"i-{self._random.getrandbits(68):017x}")

    def _new_id(self) -> int:
        self._last_id += 1
        return self._last_id
