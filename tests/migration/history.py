"""The webhooks of many jobs, as live intake received them in the last days."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from runledger.model import times
from runledger.webhooks.delivery import Delivery

from tests.support.webhooks import COMPLETED, DEPLOYMENT, IN_PROGRESS, QUEUED, WAITING, payload

FIRST_JOB, FIRST_RUN, JOBS_IN_A_RUN = 7_000_000, 9_000_000, 4
LIVES = (
    (QUEUED, IN_PROGRESS, COMPLETED),
    (QUEUED, WAITING, IN_PROGRESS, COMPLETED),
    (COMPLETED, IN_PROGRESS, QUEUED),  # received in the wrong order
    (QUEUED, COMPLETED),
    (QUEUED, IN_PROGRESS),
    (COMPLETED,),
)
CONCLUSIONS = ("success", "failure", "cancelled", "skipped")


@dataclass(frozen=True, kw_only=True)
class History:
    """`objects` deliveries, a second apart, that end at `until`."""

    objects: int
    until: datetime

    @classmethod
    def of_last_days(cls, objects: int) -> "History":
        return cls(objects=objects, until=datetime.now(UTC) - timedelta(days=1))

    def deliveries(self) -> list[Delivery]:
        return list(itertools.islice(self._all(), self.objects))

    def _all(self) -> Iterator[Delivery]:
        start = self.until - timedelta(seconds=self.objects)
        number = itertools.count()
        for job, life in enumerate(itertools.cycle(LIVES)):
            begun = start + timedelta(seconds=job * 3)
            for step in life:
                received = start + timedelta(seconds=next(number), milliseconds=job % 1000)
                yield Delivery(
                    event="workflow_job",
                    delivery_id=f"guid of {step} of {job}",
                    body=json.dumps(_message(step, job, begun)).encode(),
                    received_at=times.normalised(received.isoformat()),
                    received_by="a-log-stream/[$LATEST]1",
                )


def _message(step: str, job: int, begun: datetime) -> dict[str, object]:
    changes: dict[str, object] = {
        "run_id": FIRST_RUN + job // JOBS_IN_A_RUN,
        "name": f"build {job}",
        "created_at": _second(begun),
        "started_at": _second(begun if step in (QUEUED, WAITING) else begun + timedelta(seconds=20)),
        "runner_name": f"a-runner-{job}" if step in (IN_PROGRESS, COMPLETED) else None,
    }
    if step == COMPLETED:
        changes |= {
            "completed_at": _second(begun + timedelta(seconds=90)),
            "conclusion": CONCLUSIONS[job % len(CONCLUSIONS)],
        }
    message = payload(step, job_id=FIRST_JOB + job, **changes)
    if step == WAITING:
        message["deployment"] = {"id": DEPLOYMENT + job, "environment": "production"}
    return message


def _second(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
