"""Rows of graphs on the dashboard."""

from collections.abc import Sequence

from aws_cdk import aws_cloudwatch as cloudwatch

FULL_WIDTH = 24

Lines = Sequence[cloudwatch.IMetric]
# The title, the metrics on the left axis, and those on the right axis, in percent.
Graph = tuple[str, Lines] | tuple[str, Lines, Lines]
Row = list[cloudwatch.IWidget]


def aws_metric(service: str, metric: str, statistic: str, *, label: str, **dimensions: str) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=f"AWS/{service}",
        metric_name=metric,
        dimensions_map=dimensions,
        statistic=statistic,
        label=label,
    )


def row(*graphs: Graph) -> Row:
    return [
        cloudwatch.GraphWidget(
            title=title,
            left=list(metrics),
            left_y_axis=cloudwatch.YAxisProps(min=0, show_units=False),
            right=list(percentages[0]) if percentages else None,
            right_y_axis=cloudwatch.YAxisProps(min=0, max=100, show_units=False) if percentages else None,
            width=FULL_WIDTH // len(graphs),
        )
        for title, metrics, *percentages in graphs
    ]
