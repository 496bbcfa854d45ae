"""Monitoring for operators: alarms, one dashboard and saved queries."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from stacks.constructs.tree import find, resource_of
from stacks.monitoring import graphs, saved_queries
from stacks.monitoring.alarms import Alarms
from stacks.monitoring.ledger_alarms import watch_ledger
from stacks.monitoring.topic import alarm_topic
from stacks.monitoring.watched import Watched
from stacks.settings import Settings


class ObservabilityStack(cdk.Stack):
    """Alarms on resources are in the stacks of those resources: see `stacks.monitoring.alarms`."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        tables: Mapping[str, dynamodb.Table],
        stacks: Sequence[cdk.Stack],
    ) -> None:
        super().__init__(scope, construct_id, termination_protection=not settings.throw_away)
        alarm_topic(self, settings=settings, prefix=settings.prefix)
        watch_ledger(Alarms(self, settings=settings), settings=settings)
        watched = Watched.within(*stacks)
        graphs.dashboard(self, settings=settings, watched=watched, tables=tables, alarms=self._by_name(*stacks, self))
        saved_queries.save(self, settings=settings, functions=watched.functions)

    def _by_name(self, *stacks: cdk.Stack) -> list[cloudwatch.IAlarm]:
        """Shows all alarms, without references to their stacks."""
        named = Construct(self, "Shown")
        names = [_name(alarm) for alarm in find(cloudwatch.Alarm, *stacks)]
        return [cloudwatch.Alarm.from_alarm_name(named, name, name) for name in names]


def _name(alarm: cloudwatch.Alarm) -> str:
    name = resource_of(alarm, cloudwatch.CfnAlarm).alarm_name
    assert name
    return name
