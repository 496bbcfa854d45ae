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


class LookupCounts:
    def __init__(self, client: "DynamoDBClient", name: str, *, max_per_minute: int) -> None:
        self._table = Table(client, name, label="workflow_runs")
        self._max_per_minute = max_per_minute

    def count(self, installation_id: int, *, at: str) -> bool:
        """False, without counting it, if the installation has reached its limit for this minute."""
        partition, minute = schema.lookups_key(installation_id), times.minute_of(at)
        return rate_limits.count(self._table, partition, "lookups", period=minute, at=at, most=self._max_per_minute)
