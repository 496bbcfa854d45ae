"""Creates alarms. docs/monitoring.md describes what to do about each of them.

An alarm is in the stack of the resource that it watches, so that it needs no reference to another stack: CloudFormation
resolves each reference with a separate call, and two hundred of them exceed its rate limit.

Each alarm watches one metric, not an expression over several: CloudWatch charges for every metric either way, and
separate alarms name the queue or table. (CDK treats a metric with a label as an expression.)
"""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from stacks.monitoring.own_metrics import OwnMetrics
from stacks.settings import Settings

MINUTES_PER_HOUR = 60


def topic_name(prefix: str) -> str:
    """A fixed name, so that the alarms in every stack can send to the topic."""
    return f"{prefix}-alarms"


class Alarms(Construct):
    """The alarms of one stack. Their topic must be in the same region, because CloudWatch rejects any other."""

    def __init__(self, scope: Construct, *, settings: Settings, prefix: str | None = None) -> None:
        super().__init__(scope, "Alarms")
        self.own = OwnMetrics(stage=settings.stage)
        self._prefix = prefix or settings.prefix
        arn = cdk.Stack.of(self).format_arn(service="sns", resource=topic_name(self._prefix))
        self._topic = sns.Topic.from_topic_arn(self, "Topic", arn)

    def add(
        self,
        name: str,
        metric: cloudwatch.IMetric,
        meaning: str,
        *,
        threshold: float = 0,
        comparison: cloudwatch.ComparisonOperator = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
        periods: int = 1,
        at_least: int | None = None,
        missing: cloudwatch.TreatMissingData = cloudwatch.TreatMissingData.NOT_BREACHING,
    ) -> None:
        """Sends no message when the alarm ends, because every alarm would send one during the first deployment."""
        alarm = cloudwatch.Alarm(
            self,
            name,
            alarm_name=f"{self._prefix}-{name}",
            alarm_description=f"{meaning} See docs/monitoring.md, Alarms.",
            metric=metric,
            threshold=threshold,
            comparison_operator=comparison,
            evaluation_periods=periods,
            datapoints_to_alarm=at_least,
            treat_missing_data=missing,
        )
        alarm.add_alarm_action(actions.SnsAction(self._topic))

    def add_count(self, name: str, metric: cloudwatch.IMetric, meaning: str, *, at_least: int) -> None:
        """Alarms when the count within the metric's period reaches `at_least`."""
        self.add(
            name,
            metric,
            meaning,
            threshold=at_least,
            comparison=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        )
