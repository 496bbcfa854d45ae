"""Events from EC2 and ECS: an instance or task runs, stops or is gone."""

from runledger.wiring.aws_events import event_handler

handler = event_handler()
