"""A further region with runners: forwards its EC2 and ECS events to the bus in the deployment's main region.

EventBridge rules are regional. A forwarded event keeps its original `account` and `region`. The dead-letter queue, its
alarm and the alarm's topic are in this region too, because none of them works across regions.
"""

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.constructs.queues import dead_letters
from stacks.constructs.reconciler import output_orphan_policy
from stacks.events import states, tasks, warnings
from stacks.monitoring.alarms import Alarms
from stacks.monitoring.topic import alarm_topic
from stacks.names import forwarder_stack
from stacks.settings import Settings


class RunnerRegionStack(cdk.Stack):
    def __init__(self, scope: Construct, *, settings: Settings, region: str, main_region: str) -> None:
        # Also the prefix of other names, because deployments of one stage in two regions may share this region.
        name = forwarder_stack(settings.stage, region, main_region)
        super().__init__(scope, name, env=cdk.Environment(region=region))
        bus = self.format_arn(
            service="events",
            region=main_region,
            resource="event-bus",
            resource_name=settings.prefix,
        )
        # One role for the three rules. The target allows it to put events on this bus, and nothing else.
        role = iam.Role(self, "Forwarder", assumed_by=iam.ServicePrincipal("events.amazonaws.com"))
        undelivered = dead_letters(
            self,
            "ForwardingDeadLetters",
            settings=settings,
            reason="It is itself the dead-letter queue of the rules' targets.",
            # If the region is removed from runner_regions, its events are no longer needed.
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        target = targets.EventBus(
            events.EventBus.from_event_bus_arn(self, "Bus", bus), role=role, dead_letter_queue=undelivered
        )
        patterns = {"Warnings": warnings(), "States": states(), "Tasks": tasks(settings)}
        for kind, pattern in patterns.items():
            events.Rule(
                self,
                f"Forward{kind}",
                description=f"EC2 and ECS events of runners, to Runledger in {main_region}",
                event_pattern=pattern,
                targets=[target],
            )
        alarm_topic(self, settings=settings, prefix=name)
        Alarms(self, settings=settings, prefix=name).add(
            "DeadLetters-Forwarding",
            undelivered.metric_approximate_number_of_messages_visible(),
            f"EventBridge could not forward EC2 or ECS events of runners from {region} to {main_region}.",
        )
        output_orphan_policy(self, settings)
