"""Instances and tasks that run, stop or are gone, from the default bus."""

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
