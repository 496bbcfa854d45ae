"""Warnings from EC2: a spot instance will be interrupted, or may be soon.

They have their own queue, so that a backlog of state changes doesn't delay them.
"""

from typing import Any

from runledger.platform import batches
from runledger.runners import aws_events
from runledger.wiring import runners

tracker = runners.tracker()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each_event(event, context, lambda aws_event, _sent_at: aws_events.record(aws_event, tracker))
