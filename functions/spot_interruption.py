"""Warnings of EC2: a spot instance will be interrupted, or may be soon."""

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
