"""The metrics that `runledger.emf` writes, as alarms and dashboard name them."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

NAMESPACE = "Runledger"
SERVICE = "runledger"


def own(name: str, statistic: str, *, minutes: int = 5, **dimensions: str) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=NAMESPACE,
        metric_name=name,
        dimensions_map={"service": SERVICE, **dimensions},
        statistic=statistic,
        period=cdk.Duration.minutes(minutes),
    )
