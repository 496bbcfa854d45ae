"""The monthly bill, from the counts of one job and a few assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runledger.tables import schema

from bench import prices
from tests.support.synthesis import of_type, synthesise

if TYPE_CHECKING:
    from bench.counts import Counts

HOURS_A_MONTH = 730

GIGABYTE = 1_000_000_000

# Assumed, not measured: a webhook takes about 10 ms of CPU at 512 MB and a few DynamoDB calls of about 4 ms.
BILLED_SECONDS = 0.030
MEMORY_GB = 0.5
LAMBDA_LOG_BYTES = 300  # START, END and REPORT
ACCESS_LOG_BYTES = 250
SQS_REQUESTS = 3  # sent, received, deleted
# An estimate. CloudWatch bills a metric only for the hours in which it is emitted, and some are rare or optional.
METRICS = 42
SECRETS = 3
SECRET_CALLS = 10 * 12 * HOURS_A_MONTH  # ten permanently warm functions, every 5 minutes
# The load varies over the day, and auto-scaling targets 70 %: on average half of that is used.
UTILISATION = 0.35
LEAST_CAPACITY = 5


def month(counts: Counts, jobs: int) -> dict[str, float]:
    """Dollars by service, DynamoDB on demand."""
    calls = counts.webhooks + counts.scheduling_events
    logged = counts.normal.log_bytes + calls * LAMBDA_LOG_BYTES + counts.webhooks * ACCESS_LOG_BYTES
    lambda_ = calls * (prices.LAMBDA_REQUEST + BILLED_SECONDS * MEMORY_GB * prices.LAMBDA_GB_SECOND)
    return {
        "DynamoDB requests": jobs * prices.requests(counts.normal.written(), counts.normal.read()),
        "DynamoDB storage": jobs * counts.kept_byte_months / GIGABYTE * prices.STORED_GB_MONTH,
        "API Gateway": jobs * counts.webhooks * prices.HTTP_API_REQUEST,
        "Lambda": jobs * lambda_,
        "CloudWatch Logs": jobs * logged / GIGABYTE * prices.LOGGED_GB,
        "EventBridge and SQS": jobs
        * counts.scheduling_events
        * (prices.CUSTOM_EVENT + SQS_REQUESTS * prices.SQS_REQUEST),
        "metrics and secrets": METRICS * prices.METRIC_MONTH
        + SECRETS * prices.SECRET_MONTH
        + SECRET_CALLS * prices.SECRET_CALL,
        "alarms and dashboard": deployed("AWS::CloudWatch::Alarm") * prices.ALARM_MONTH
        + deployed("AWS::CloudWatch::Dashboard") * prices.DASHBOARD_MONTH,
    }


def deployed(resource_type: str) -> int:
    """The number of these resources in a deployment with the default settings."""
    return sum(len(of_type(template, resource_type)) for template in synthesise().values())


def provisioned(counts: Counts, jobs: int) -> float:
    """Cost of DynamoDB requests in dollars; unused provisioned capacity is billed too."""
    return max(least_provisioned(), full_use(counts, jobs) / UTILISATION)


def full_use(counts: Counts, jobs: int) -> float:
    """The cost if every provisioned unit were used in every second."""
    return jobs * prices.provisioned_requests(counts.normal.written(), counts.normal.read())


def least_provisioned() -> float:
    """The cost of the minimum capacity of every table and index."""
    scaled = sum(1 + len(table.indexes) for table in schema.TABLES)
    return scaled * LEAST_CAPACITY * HOURS_A_MONTH * (prices.WRITE_CAPACITY_HOUR + prices.READ_CAPACITY_HOUR)
