"""The handler that records events of EC2 and ECS. `spot_interruption` and `instance_state` have a queue each."""

import json
from collections.abc import Callable
from typing import Any

from runledger.platform import batches, logs
from runledger.runners import aws_events
from runledger.wiring.runners import runners

Handler = Callable[[dict[str, Any], Any], Any]


def event_handler() -> Handler:
    tracker = runners()

    def record(message: str) -> None:
        event = json.loads(message)
        logs.follow(str(event.get("id")))
        aws_events.record(event, tracker)

    return lambda event, context: batches.each(event, context, record)
