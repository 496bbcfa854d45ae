"""How often an installation's unknown runs and deployments are looked up on GitHub, counted by the minute.

A known run is refreshed at most every 25 seconds, whatever the number of readers. Unknown ids have no such limit: each
invented id would cause a call, and all calls for an installation share one hourly rate limit.
"""

from typing import TYPE_CHECKING

from runledger.model import times
from runledger.tables import rate_limits, schema
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# A lookup takes one or two calls, so this is at most half of GitHub's smallest limit, 5,000 calls an hour.
MOST_PER_MINUTE = 20


class LookupCounts:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._table = Table(client, name, label="workflow_runs")

    def count(self, installation_id: int, *, at: str) -> bool:
        """False, without counting it, if the installation has reached its limit for this minute."""
        partition, minute = schema.lookups_key(installation_id), times.minute_of(at)
        return rate_limits.count(self._table, partition, "lookups", period=minute, at=at, most=MOST_PER_MINUTE)
