"""Reads the queue of lookups: a job runs on a machine that no launcher reported, and EC2 or ECS describes it."""

from typing import Any

from runledger.platform import batches, logs
from runledger.recording import follow_up_queue
from runledger.wiring import runners

lookups = runners.lookups()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _look_up)


def _look_up(message: str) -> None:
    lookup = follow_up_queue.lookup_from(message)
    logs.continue_message(message)
    lookups.look_up(lookup)
