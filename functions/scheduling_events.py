"""Events of launchers, from our bus: which runner was started for which job, and what became of it."""

import json
from typing import Any

from runledger import batches, runner_runtime, scheduling, telemetry

runners, find_price = runner_runtime.runners(), runner_runtime.find_price()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _take)


def _take(message: str) -> None:
    event = json.loads(message)
    telemetry.follow(str(event.get("id")))
    scheduling.take(event, runners, find_price)
