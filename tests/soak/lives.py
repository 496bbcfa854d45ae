"""Runs of three jobs, the deliveries and events about them in random order, and what must be stored in the end."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from local.github.records import Installation, Job, Record, Run
from tests.support import messages, runner_events
from tests.support.webhooks import COMPLETED, IN_PROGRESS, QUEUED, REPO, payload

INSTALLATION = 19_000_001
FIRST_JOB, FIRST_RUN = 19_000_000_000, 19_500_000_000
JOBS_OF_A_RUN = 3
DOUBLED, LOST = 0.10, 0.02
CREATED_AT, STARTED_AT, COMPLETED_AT = "2025-01-15T10:00:00Z", "2025-01-15T10:02:30Z", "2025-01-15T10:12:45Z"
USED_SECONDS, PRICE = 615, Decimal("0.0335")


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    number: int

    @property
    def job_id(self) -> int:
        return FIRST_JOB + self.number

    @property
    def run_id(self) -> int:
        return FIRST_RUN + self.number // JOBS_OF_A_RUN

    @property
    def key(self) -> str:
        return f"{INSTALLATION}#{self.job_id}"

    @property
    def conclusion(self) -> str:
        return "failure" if self.number % 10 == 0 else "success"

    @property
    def instance_id(self) -> str:
        return f"i-0{self.number:016x}"

    @property
    def runner_name(self) -> str:
        return f"runner-{self.instance_id}"

    def message(self, step: str) -> dict[str, Any]:
        message = payload(step, job_id=self.job_id, run_id=self.run_id, run_attempt=1)
        message["installation"] = {"id": INSTALLATION}
        if step in (IN_PROGRESS, COMPLETED):
            message["workflow_job"]["runner_name"] = self.runner_name
        if step == COMPLETED:
            message["workflow_job"]["conclusion"] = self.conclusion
        return message

    def expected(self) -> dict[str, Any]:
        """The values of the stored job."""
        return {
            "status": "completed",
            "conclusion": self.conclusion,
            "run_id": self.run_id,
            "repo_full_name": REPO,
            "created_at": CREATED_AT.replace("Z", ".000Z"),
            "started_at": STARTED_AT.replace("Z", ".000Z"),
            "completed_at": COMPLETED_AT.replace("Z", ".000Z"),
            "runner_name": self.runner_name,
            "instance_id": self.instance_id,
            "pool_name": "small-arm64",
            "price_per_hour": PRICE,
            "usage_in_seconds": USED_SECONDS,
            "usage_in_dollars": (PRICE * USED_SECONDS / 3600).quantize(Decimal("0.000001")),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    event: str
    guid: str
    body: bytes
    key: str | None = None  # of the job whose history must contain it


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """`sent` are deliveries and launcher events. The deliveries of `lost` are never sent."""

    lives: list[Life]
    sent: list[Delivery | dict[str, Any]]
    lost: list[Delivery] = field(default_factory=list)

    @property
    def deliveries(self) -> list[Delivery]:
        return [each for each in self.sent if isinstance(each, Delivery)]

    @property
    def runs(self) -> dict[int, list[Life]]:
        found: dict[int, list[Life]] = {}
        for life in self.lives:
            found.setdefault(life.run_id, []).append(life)
        return found

    def records(self) -> Iterator[Record]:
        """What GitHub has of the runs that lost a delivery. It isn't called for the others."""
        yield Installation(id=INSTALLATION, account=REPO.partition("/")[0], created_at=CREATED_AT)
        keys = {each.key for each in self.lost}
        for run_id, lives in self.runs.items():
            if keys.isdisjoint(life.key for life in lives):
                continue
            yield Run(id=run_id, repository=REPO, status="completed", conclusion="success", created_at=CREATED_AT)
            for life in lives:
                yield Job(
                    id=life.job_id,
                    run_id=run_id,
                    name="test",
                    status="completed",
                    conclusion=life.conclusion,
                    created_at=CREATED_AT,
                    started_at=STARTED_AT,
                    completed_at=COMPLETED_AT,
                    runner_id=42,
                    runner_name=life.runner_name,
                    runner_group_id=1,
                )


def workload(number: int, *, seed: int) -> Workload:
    choice = random.Random(f"lives {seed}")  # noqa: S311
    lives = [Life(number=each) for each in range(number)]
    sent: list[Delivery | dict[str, Any]] = []
    lost: list[Delivery] = []
    for life in lives:
        sent.append(
            runner_events.launcher(
                "runner_scheduled",
                job_id=life.job_id,
                runner_id=life.instance_id,
                run_id=life.run_id,
                installation_id=INSTALLATION,
            )
        )
        for step in (QUEUED, IN_PROGRESS, COMPLETED):
            body = json.dumps(life.message(step)).encode()
            delivery = Delivery(event="workflow_job", guid=f"{step} {life.job_id}", body=body, key=life.key)
            (lost if step == COMPLETED and choice.random() < LOST else sent).append(delivery)
    for run_id in {life.run_id: None for life in lives}:
        for action in ("requested", "completed"):
            event, message = messages.run(action, run_id=run_id)
            body = json.dumps(message | {"installation": {"id": INSTALLATION}}).encode()
            sent.append(Delivery(event=event, guid=f"{action} {run_id}", body=body))
    doubled = [each for each in sent if isinstance(each, Delivery)]
    sent += choice.sample(doubled, k=round(DOUBLED * len(doubled)))
    choice.shuffle(sent)
    return Workload(lives=lives, sent=sent, lost=lost)
