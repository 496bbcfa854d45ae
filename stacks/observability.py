"""What tells the operator before the users do: alarms, one dashboard, and saved questions to the logs."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from stacks import graphs, saved_queries
from stacks.alarms import Alarms
from stacks.settings import Settings
from stacks.watched import Watched


class ObservabilityStack(cdk.Stack):
    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings, watched: Watched) -> None:
        super().__init__(scope, construct_id, termination_protection=not settings.throw_away)
        # An export would keep a function or queue from ever being removed, only because an alarm looks at it.
        cdk.CrossStackReferences.of(self).consume(cdk.ReferenceStrength.WEAK)
        topic = self._topic(settings)
        alarms = Alarms(self, "Alarms", settings=settings, watched=watched, topic=topic)
        graphs.dashboard(self, settings=settings, watched=watched, alarms=alarms.all)
        saved_queries.save(self, settings=settings, watched=watched)
        cdk.CfnOutput(self, "AlarmTopicArn", value=topic.topic_arn)

    def _topic(self, settings: Settings) -> sns.Topic:
        """Not encrypted: CloudWatch cannot use AWS's own key of SNS, and one of ours costs a dollar a month."""
        topic = sns.Topic(self, "AlarmTopic", display_name=f"Runledger {settings.stage}", enforce_ssl=True)
        # A policy of its own replaces the default one, by which CloudWatch might publish.
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
