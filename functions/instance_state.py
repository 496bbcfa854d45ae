"""State changes from EC2 and ECS: an instance or task runs, stops or is gone, or a spot task is interrupted."""

from typing import Any

from runledger.platform import batches
from runledger.runners import aws_events
from runledger.wiring import runners

tracker = runners.tracker()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each_event(event, context, lambda aws_event, _sent_at: aws_events.record(aws_event, tracker))
