"""All webhooks of one job, and the attributes that depend on the order in which they arrive."""

from collections.abc import Iterable
from functools import cache

from runledger.model.inputs import Receipt

from tests.simulation.explore import Flow, Outcome, in_order, play
from tests.simulation.world import World
from tests.support.ledgers import EVENTS, JOBS, RUNS
from tests.support.webhooks import COMPLETED, IN_PROGRESS, JOB, QUEUED, receipt

RECEIVED = {QUEUED: 0, IN_PROGRESS: 150, COMPLETED: 770}
STEPS = tuple(RECEIVED)

# What depends on the order of arrival, and may.
ORDER_OF_ARRIVAL = {
    # Tokens of the recorded deliveries, in order of arrival. Registration keeps the first delivery that arrived.
    JOBS: frozenset({"inputs", "first_seen_at"}),
    # A history event has what was new when it arrived, and which status and version the job had then.
    EVENTS: frozenset({"changes", "status", "version"}),
    # A run that is known from its jobs alone has the status that its first job to arrive implied.
    RUNS: frozenset({"status"}),
}
# Two deliveries at once may also each do a part of what the first one does: one registers, the other creates the job.
PARTS_OF_THE_FIRST = {JOBS: frozenset({"first_seen_at"}), RUNS: frozenset({"status", "ttl"})}


@cache
def webhook(step: str, again: int = 0, job_id: int = JOB) -> Receipt:
    """A redelivery has the same GUID and is received later."""
    return receipt(step, at=RECEIVED[step] + again, guid=f"{step} of {job_id}", job_id=job_id)


def record(step: str, again: int = 0, job_id: int = JOB) -> Flow:
    received = webhook(step, again, job_id)
    return lambda process: process.ledger.dispatch(received)


def redelivering(steps: Iterable[str]) -> Flow:
    """A step that comes again is a redelivery."""
    seen: dict[str, int] = {}
    flows = []
    for step in steps:
        flows.append(record(step, seen.get(step, 0)))
        seen[step] = seen.get(step, 0) + 1
    return in_order(*flows)


def undisturbed(*flows: Flow) -> Outcome:
    return play(World(), {"A": in_order(*flows)})
