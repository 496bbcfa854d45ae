"""Intake that stops at any AWS call and is invoked again leaves the same tables as one that didn't stop."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from tests.functions.conftest import World
from tests.simulation.engine import Engine
from tests.support import messages
from tests.support.beds import dump, empty
from tests.support.ledgers import EVENTS
from tests.support.messages import Message
from tests.support.stopping import Stopped, Stopper
from tests.support.webhooks import COMPLETED, IN_PROGRESS, JOB, LIFE, QUEUED, QUEUED_AGAIN, WAITING, http_event, payload

pytestmark = pytest.mark.walk

TEN_O_CLOCK = 1_736_935_200_123


REPORTS: dict[str, Message] = {
    "run completed": messages.run("completed"),
    "run requested": messages.run("requested"),
    "deployment": messages.deployment(),
    "deployment waiting": messages.deployment_status("waiting", job_id=JOB),
    "review requested": messages.review("requested"),
    "review approved": messages.review("approved"),
    "installation suspended": messages.installation("suspend"),
}


def delivered(step: str, *, minute: int) -> dict[str, Any]:
    event, message = REPORTS.get(step) or ("workflow_job", payload(step))
    return http_event(
        json.dumps(message).encode(),
        event=event,
        guid=f"guid of {step}",
        at_epoch_ms=TEN_O_CLOCK + minute * 60_000,
    )


# What came before, and what is then delivered: each kind of delivery on each path through the protocol.
KINDS = {
    "queued, the first delivery of a job": ((), QUEUED),
    "waiting, the first delivery of a job": ((), WAITING),
    "completed, the first and only (skipped)": ((), COMPLETED),
    "waiting after queued": ((QUEUED,), WAITING),
    "queued again": ((QUEUED, WAITING), QUEUED_AGAIN),
    "in_progress": ((QUEUED,), IN_PROGRESS),
    "completed": ((QUEUED, IN_PROGRESS), COMPLETED),
    "late queued": ((COMPLETED,), QUEUED),
    "late in_progress": ((COMPLETED,), IN_PROGRESS),
    "redelivered queued": ((QUEUED,), QUEUED),
    "redelivered queued of a finished job": (LIFE, QUEUED),
    "redelivered queued again": ((QUEUED, WAITING, QUEUED_AGAIN), QUEUED_AGAIN),
    "redelivered completed": (LIFE, COMPLETED),
    "a run": ((), "run completed"),
    "a run after its jobs": ((QUEUED, COMPLETED), "run completed"),
    "a late run": (("run completed",), "run requested"),
    "a deployment": ((), "deployment"),
    "a deployment's status": (("deployment",), "deployment waiting"),
    "a review before its job": ((), "review approved"),
    "a review of a waiting job": ((QUEUED_AGAIN,), "review approved"),
    "a late request for review": ((QUEUED_AGAIN, "review approved"), "review requested"),
    "a job after its review": (("review approved",), QUEUED_AGAIN),
    "an installation": ((), "installation suspended"),
}


class Bed:
    """Intake with tables that it calls without a client between: a walk makes thousands of calls."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.tables: Any = Engine()

    def deliver(self, *events: dict[str, Any], through: Stopper | None = None) -> dict[str, Any]:
        """Deliver each in a process of its own; returns the last response."""
        intake = self._world.start("webhook_intake")
        ledger: Any = intake.intake.ledger
        for table in (ledger.jobs, ledger.events, ledger.installations, ledger.runs, ledger.deployments, ledger.gates):
            table._table.client = through or self.tables
        responses: list[dict[str, Any]] = [intake.handler(event, object()) for event in events]
        return responses[-1]

    def play(self, past: tuple[str, ...], *events: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
        """Deliver into empty tables; returns their content."""
        empty(self.tables)
        earlier = [delivered(step, minute=minute) for minute, step in enumerate(past)]
        if earlier or events:
            self.deliver(*earlier, *events)
        return dump(self.tables)

    def stopping_points(self, past: tuple[str, ...], step: str) -> Iterator[tuple[int, bool]]:
        """Every call of the delivery, until one that it does not make any more; each in tables of its own."""
        for at_call in count(1):
            for after in (False, True):
                self.play(past)
                stopper = Stopper(self.tables, at_call=at_call, after=after)
                try:
                    self.deliver(delivered(step, minute=30), through=stopper)
                except Stopped:
                    yield at_call, after
                if not stopper.stopped:
                    return


@pytest.fixture
def bed(world: World) -> Iterator[Bed]:
    bed = Bed(world)
    yield bed
    assert not any(dump(world.dynamodb).values())  # nothing has passed by the tables in memory


@pytest.mark.parametrize(("past", "step"), KINDS.values(), ids=KINDS)
def test_a_stop_anywhere_and_the_same_receipt_again_leave_the_same_tables(
    bed: Bed, past: tuple[str, ...], step: str
) -> None:
    undisturbed = bed.play(past, delivered(step, minute=30))
    points = 0
    for _point in bed.stopping_points(past, step):
        assert bed.deliver(delivered(step, minute=30))["statusCode"] == 202
        assert dump(bed.tables) == undisturbed
        points += 1
    assert points >= 2


@pytest.mark.parametrize(("past", "step"), KINDS.values(), ids=KINDS)
def test_a_stop_anywhere_and_a_later_redelivery_leave_the_same_jobs(bed: Bed, past: tuple[str, ...], step: str) -> None:
    """The stopped receipt may have left its line; the job is as if it had come once, and nothing is missing."""
    undisturbed = bed.play(past, delivered(step, minute=45))
    for _point in bed.stopping_points(past, step):
        bed.deliver(delivered(step, minute=45))
        ended = dump(bed.tables)
        assert _timeless(ended["workflow_jobs"]) == _timeless(undisturbed["workflow_jobs"])
        lines = {line["SK"] for line in ended[EVENTS]}
        assert lines >= {line["SK"] for line in undisturbed[EVENTS]}
        assert len(lines) <= len(undisturbed[EVENTS]) + 1


def _timeless(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    about_receipt = {
        *("received_at", "last_updated_at", "inputs", "ttl", "first_seen_at", "reported_at"),
        *("queued_reported_at", "waiting_reported_at"),
    }
    return [{name: value for name, value in item.items() if name not in about_receipt} for item in found]
