"""A region with runners beside the deployment's own: its EC2 and ECS events are forwarded to the deployment's bus.

EventBridge rules are regional. `account` and `region` of a forwarded event stay those of its origin.
"""

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.constructs.parts import orphan_policy
from stacks.events import states, tasks, warnings
from stacks.settings import Settings


class RunnerRegionStack(cdk.Stack):
    def __init__(self, scope: Construct, *, settings: Settings, region: str, main_region: str) -> None:
        super().__init__(scope, settings.forwarder_stack(region, main_region), env=cdk.Environment(region=region))
        bus = self.format_arn(
            service="events",
            region=main_region,
            resource="event-bus",
            resource_name=f"runledger-{settings.stage}",
        )
        # One role for the three rules. The target grants it to put events on this bus, and nothing else.
        role = iam.Role(self, "Forwarder", assumed_by=iam.ServicePrincipal("events.amazonaws.com"))
        target = targets.EventBus(events.EventBus.from_event_bus_arn(self, "Bus", bus), role=role)
        patterns = {"Warnings": warnings(), "States": states(), "Tasks": tasks(settings)}
        for name, pattern in patterns.items():
            events.Rule(
                self,
                f"Forward{name}",
                description=f"EC2 and ECS events of runners, to Runledger in {main_region}",
                event_pattern=pattern,
                targets=[target],
            )
        orphan_policy(self, settings)
