"""Warnings from EC2: a spot instance will be interrupted, or may be soon."""

from runledger.wiring.aws_events import event_handler

handler = event_handler()
