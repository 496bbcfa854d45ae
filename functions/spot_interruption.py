"""Warnings of EC2: a spot instance will be interrupted, or may be soon."""

import json
from typing import Any

from runledger import batches, interruption, runner_runtime, telemetry

runners = runner_runtime.runners()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _take)


def _take(message: str) -> None:
    event = json.loads(message)
    telemetry.follow(str(event.get("id")))
    interruption.take(event, runners)
