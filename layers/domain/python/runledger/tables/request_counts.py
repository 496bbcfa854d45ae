"""How many events teams post to the feed of an installation, or builds they report, counted by the minute.

All installations share one FIFO queue, and SQS looks for groups among its first 120,000 messages only: behind a backlog
of that size, the messages of all other installations would wait.
"""

from typing import TYPE_CHECKING

from runledger.model import times
from runledger.tables import rate_limits, schema
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class RequestCounts:
    """In the table that the requests write to: feed or releases."""

    def __init__(self, client: "DynamoDBClient", name: str, *, label: str, most_per_minute: int) -> None:
        self._table = Table(client, name, label=label)
        self.most_per_minute = most_per_minute

    def count(self, installation_id: int, *, at: str, requests: int = 1) -> bool:
        """False, without counting, if the installation has reached its limit for this minute.

        A request that costs as much as several counts as that many.
        """
        return rate_limits.count(
            self._table,
            schema.posts_key(installation_id),
            "posts",
            period=times.minute_of(at),
            at=at,
            most=self.most_per_minute,
            number=requests,
        )
