"""The metrics that `runledger.platform.emf` writes, for alarms and graphs."""

from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from runledger.platform.emf import NAMESPACE, SERVICE


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnMetrics:
    """The metrics of one stage. Another stage in the same account and region has separate metrics."""

    stage: str

    def metric(self, name: str, statistic: str, *, minutes: int = 5, **dimensions: str) -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace=NAMESPACE,
            metric_name=name,
            dimensions_map={"service": SERVICE, "stage": self.stage, **dimensions},
            statistic=statistic,
            period=cdk.Duration.minutes(minutes),
        )

    def sums(self, *names: str, minutes: int = 5) -> list[cloudwatch.Metric]:
        return [self.metric(name, "Sum", minutes=minutes) for name in names]
