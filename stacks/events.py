"""The bus on which launchers tell Runledger what they do with runners."""

import aws_cdk as cdk
from aws_cdk import aws_events as events
from constructs import Construct

from stacks.settings import Settings


class EventsStack(cdk.Stack):
    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id, termination_protection=not settings.throw_away)
        self.bus = events.EventBus(self, "Bus", event_bus_name=f"runledger-{settings.stage}")
        cdk.CfnOutput(self, "EventBusName", value=self.bus.event_bus_name)
