"""A small ledger, and the checks after each input: a rejected one changes nothing, and no write is left half done."""

import io
import json
from dataclasses import dataclass, field
from typing import Any

from runledger.tables.attributes import from_attributes

from tests.functions.conftest import World
from tests.simulation.histories import broken_histories
from tests.simulation.storage import Items, Snapshot
from tests.support import memory, messages, runner_events
from tests.support.webhooks import COMPLETED, IN_PROGRESS, JOB, LIFE, QUEUED, http_event, payload

LARGEST_ITEM = 64 * 1024
LONGEST_DETAIL = 2000
# A defect of the code and not of the input: the log shows it with a traceback.
DEFECTS = ("message failed", "unhandled exception", "delivery not recorded", "Traceback")
OTHER_JOB = JOB + 1


def fill(world: World) -> None:
    """A completed job, a job that waits, its gate, a run, an installation and a machine with an owner."""
    sent = [("workflow_job", payload(step)) for step in LIFE]
    sent += [("workflow_job", payload(step, job_id=OTHER_JOB)) for step in (QUEUED, "waiting")]
    sent += [messages.run("in_progress"), messages.deployment(), messages.review("requested")]
    sent += [messages.installation("created")]
    for number, (event, message) in enumerate(sent):
        request = http_event(json.dumps(message).encode(), event=event, guid=f"first {number}")
        assert world.invoke("webhook_intake", request)["statusCode"] == 202
    world.invoke("scheduling_events", runner_events.batch(runner_events.launcher("runner_scheduled", job_id=OTHER_JOB)))
    for step in (IN_PROGRESS, COMPLETED):
        world.invoke("webhook_intake", http_event(json.dumps(payload(step, job_id=JOB + 2)).encode(), guid=step))
    for queue in ("lookups", "reruns"):
        world.waiting(queue)


@dataclass
class Bed:
    world: World
    log: io.StringIO
    filled: Snapshot = field(init=False)

    def __post_init__(self) -> None:
        self.filled = memory.engine().snapshot()

    def reset(self) -> None:
        memory.engine().restore(self.filled)
        self.log.truncate(0)
        self.log.seek(0)

    def tables(self) -> dict[str, Items]:
        return dict(memory.engine().snapshot().items)

    def check_response(self, response: dict[str, Any], before: dict[str, Items], *accepted: int) -> None:
        """`accepted` are the statuses of inputs that may be recorded. Any other one must explain itself."""
        status = response["statusCode"]
        assert status < 500, response
        if status not in accepted:
            assert self.tables() == before
            problem = json.loads(response["body"])
            assert problem["status"] == status
            assert 0 < len(problem["detail"]) <= LONGEST_DETAIL, problem

    def check(self) -> None:
        """Check the tables after the last input of a case."""
        assert not [defect for defect in DEFECTS if defect in self.log.getvalue()], self.log.getvalue()
        tables = self.tables()
        assert broken_histories(tables) == []
        for items in tables.values():
            for item in items.values():
                assert len(json.dumps(from_attributes(item), default=str)) < LARGEST_ITEM
        assert self.world.deferred() == []
