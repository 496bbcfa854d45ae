"""Instances and tasks that run, stop or are gone, from the default bus."""

import json
from typing import Any

from runledger.platform import batches, logs
from runledger.runners import aws_events
from runledger.wiring import runners as wiring

runners = wiring.runners()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _take)


def _take(message: str) -> None:
    event = json.loads(message)
    logs.follow(str(event.get("id")))
    aws_events.record(event, runners)
