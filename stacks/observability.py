"""Monitoring for operators: alarms, one dashboard and saved queries."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from stacks.monitoring import graphs, saved_queries
from stacks.monitoring.alarms import Alarms, topic_name
from stacks.monitoring.ledger_alarms import watch_ledger
from stacks.monitoring.watched import Watched, find
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
        topic = self._topic(settings)
        watch_ledger(Alarms(self, settings=settings), settings=settings)
        watched = Watched.within(*stacks)
        graphs.dashboard(self, settings=settings, watched=watched, tables=tables, alarms=self._by_name(*stacks, self))
        saved_queries.save(self, settings=settings, functions=watched.functions)
        cdk.CfnOutput(self, "AlarmTopicArn", value=topic.topic_arn)

    def _by_name(self, *stacks: cdk.Stack) -> list[cloudwatch.IAlarm]:
        """All alarms, without references to their stacks."""
        named = Construct(self, "Shown")
        names = [_name(alarm) for alarm in find(cloudwatch.Alarm, *stacks)]
        return [cloudwatch.Alarm.from_alarm_name(named, name, name) for name in names]

    def _topic(self, settings: Settings) -> sns.Topic:
        """Not encrypted: CloudWatch cannot use AWS's own key of SNS, and one of ours costs a dollar a month."""
        topic = sns.Topic(
            self,
            "AlarmTopic",
            topic_name=topic_name(settings),
            display_name=f"Runledger {settings.stage}",
            enforce_ssl=True,
        )
        # This policy replaces the default one, which let CloudWatch publish.
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": self.account}},
            )
        )
        if settings.alarm_email:
            topic.add_subscription(subscriptions.EmailSubscription(settings.alarm_email))
        return topic


def _name(alarm: cloudwatch.Alarm) -> str:
    deployed = alarm.node.default_child
    assert isinstance(deployed, cloudwatch.CfnAlarm)
    assert deployed.alarm_name
    return deployed.alarm_name
