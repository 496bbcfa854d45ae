"""AWS prices in us-east-1 in dollars, as of November 2026. Check them again before you rely on them."""

from __future__ import annotations

AS_OF = "November 2026"
MILLION = 1_000_000

WRITE_UNIT = 0.625 / MILLION  # on demand, since November 2024
READ_UNIT = 0.125 / MILLION
WRITE_CAPACITY_HOUR = 0.00065  # provisioned: one unit per second, for an hour
READ_CAPACITY_HOUR = 0.00013
STORED_GB_MONTH = 0.25
LAMBDA_GB_SECOND = 0.0000133334  # arm64
LAMBDA_REQUEST = 0.20 / MILLION
HTTP_API_REQUEST = 1.00 / MILLION
CUSTOM_EVENT = 1.00 / MILLION
SQS_REQUEST = 0.40 / MILLION
LOGGED_GB = 0.50
METRIC_MONTH = 0.30
ALARM_MONTH = 0.10
DASHBOARD_MONTH = 3.00
SECRET_MONTH = 0.40
SECRET_CALL = 0.05 / 10_000
# Only used by the test of docs/cost.md.
SNAPSTART_CACHED_GB_SECOND = 0.0000015046
SNAPSTART_RESTORED_GB = 0.0001397998

# The original estimate: four PUT and four GET or HEAD requests to S3 per job, and 8 DynamoDB writes.
S3_PER_MILLION_JOBS = 21.60
CLAIMED_WRITE_UNITS = 8
CLAIMED_READ_UNITS = 1.5
# Its figures for a million jobs, without and with an approval, at the prices before November 2024.
S3 = (S3_PER_MILLION_JOBS, 26.60)
CLAIMED_ON_DEMAND = (10.38, 12.88)
CLAIMED_PROVISIONED = (3.90, 4.84)


def provisioned_requests(write_units: float, read_units: float) -> float:
    """Dollars, if every provisioned unit is used in every second."""
    return (write_units * WRITE_CAPACITY_HOUR + read_units * READ_CAPACITY_HOUR) / 3600


def requests(write_units: float, read_units: float) -> float:
    """Dollars on demand."""
    return write_units * WRITE_UNIT + read_units * READ_UNIT
