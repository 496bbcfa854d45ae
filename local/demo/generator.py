"""Generates the jobs of the demo. The same time and seed produce the same ids, names and times."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

from local.demo.payloads.entities import Delivery, Deployment, Installation, Job, Repository, Run, Runner
from local.demo.payloads.jobs import job_delivery

STOREFRONT = Repository(full_name="acme/storefront", id=610001001, private=True, installation_id=41000001)
PAYMENTS = Repository(full_name="acme/payments", id=610001002, private=True, installation_id=41000001)
PLATFORM = Repository(full_name="globex/platform", id=620002001, private=False, installation_id=41000002)
WEBSITE = Repository(full_name="octo-labs/website", id=630003001, private=False)
LEGACY = Repository(full_name="initech/legacy", id=640004001, private=True, installation_id=41000003)

SPOT = ("self-hosted", "linux", "x64", "spot")
ON_DEMAND = ("self-hosted", "linux", "arm64")


class Generator:
    """`after` is added to all ids, so that two generators of the same moment have different ones."""

    def __init__(self, now: datetime, seed: int, *, after: int = 0) -> None:
        self.now = now.replace(microsecond=0)
        self._random = Random(f"{seed} {self.now.isoformat()}")  # noqa: S311
        self._last_id = int(self.now.timestamp()) * 100 + after

    def ago(self, **since: int) -> datetime:
        return self.now - timedelta(**since)

    def installation(self, *repositories: Repository) -> Installation:
        """Created before all events of its repositories."""
        return Installation(id=repositories[0].installation_id, repositories=repositories, created_at=self.ago(days=5))

    def job(
        self,
        repository: Repository,
        workflow_name: str,
        name: str,
        *,
        minutes_ago: int,
        labels: tuple[str, ...] = SPOT,
        environment: str | None = None,
    ) -> Job:
        """A job in a new run."""
        created_at = self.ago(minutes=minutes_ago, seconds=self._random.randint(0, 59))
        run = Run(
            id=self.new_id(),
            attempt=1,
            workflow_name=workflow_name,
            repository=repository,
            head_sha=self.sha(),
            head_branch=self._random.choice(["main", "main", "feature/checkout", "fix/timeouts"]),
            created_at=created_at,
            started_at=created_at,
        )
        return Job(
            id=self.new_id(),
            run=run,
            name=name,
            labels=labels,
            created_at=created_at,
            deployment=Deployment(id=self.new_id(), environment=environment) if environment else None,
        )

    def sibling(self, job: Job, name: str) -> Job:
        """Another job of the same run."""
        return replace(job, id=self.new_id(), name=name)

    def rerun(self, job: Job, at: datetime) -> Job:
        """The same job in the next attempt of its run, with a new id."""
        attempt = replace(job.run, attempt=job.run.attempt + 1, started_at=at)
        return replace(job, id=self.new_id(), run=attempt, created_at=at)

    def sha(self) -> str:
        return f"{self._random.getrandbits(160):040x}"

    def instance_id(self) -> str:
        return f"i-{self._random.getrandbits(68):017x}"

    def task(self) -> str:
        return f"arn:aws:ecs:us-east-1:000000000000:task/runners/{self._random.getrandbits(128):032x}"

    def runner(self, job: Job) -> Runner:
        """A runner on a new instance. The website's jobs run on an office machine, not on EC2."""
        if job.run.repository is WEBSITE:
            return Runner(id=1000, name="office-1")
        return Runner.on(self.instance_id())

    def finished(
        self,
        job: Job,
        *,
        conclusion: str = "success",
        queued_at: datetime | None = None,
        machine: str | None = None,
    ) -> list[Delivery]:
        queued = queued_at or job.created_at
        started = queued + timedelta(seconds=self._random.randint(4, 240))
        completed = started + timedelta(seconds=self._random.randint(30, 900))
        runner = Runner.on(machine) if machine else self.runner(job)
        return [
            job_delivery(job, "queued", queued),
            job_delivery(job, "in_progress", started, runner=runner, started_at=started),
            job_delivery(job, "completed", completed, runner=runner, started_at=started, conclusion=conclusion),
        ]

    def new_id(self) -> int:
        self._last_id += 1
        return self._last_id
