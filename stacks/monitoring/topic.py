"""The topic that alarms notify: one in each region, because an alarm can only use a topic in its region."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from stacks.monitoring.alarms import topic_name
from stacks.settings import Settings


def alarm_topic(scope: Construct, *, settings: Settings, prefix: str) -> sns.Topic:
    """Not encrypted: CloudWatch can't use SNS's AWS managed key, and a customer managed key costs a dollar a month."""
    topic = sns.Topic(
        scope,
        "AlarmTopic",
        topic_name=topic_name(prefix),
        display_name=f"Runledger {settings.stage}",
        enforce_ssl=True,
    )
    # This policy replaces the default one, which allowed CloudWatch to publish.
    topic.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
            actions=["sns:Publish"],
            resources=[topic.topic_arn],
            conditions={"StringEquals": {"aws:SourceAccount": cdk.Stack.of(scope).account}},
        )
    )
    if settings.alarm_email:
        topic.add_subscription(subscriptions.EmailSubscription(settings.alarm_email))
    cdk.CfnOutput(cdk.Stack.of(scope), "AlarmTopicArn", value=topic.topic_arn)
    return topic
