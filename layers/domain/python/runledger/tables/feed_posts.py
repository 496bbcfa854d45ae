"""How many events teams post to the feed of an installation, counted by the minute.

All installations share one FIFO queue, and SQS looks for groups among its first 120,000 messages only: behind a backlog
of that size, the messages of all other installations would wait. Reports of publishers are counted in the same way, in
the table of releases.
"""

from typing import TYPE_CHECKING

from runledger.model import times
from runledger.tables import schema
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEPT_DAYS = 1
MINUTE = len("2025-01-15T10:00")
BELOW_LIMIT = "attribute_not_exists(#posts) OR #posts < :most"


class PostCounts:
    def __init__(self, client: "DynamoDBClient", name: str, *, most_per_minute: int) -> None:
        self._table = Table(client, name, label="feed")
        self.most_per_minute = most_per_minute

    def count(self, installation_id: int, *, at: str, posts: int = 1) -> bool:
        """False, without counting them, if the installation has had its posts of this minute. A post that costs as
        much as several counts as that many.
        """
        counted = self._table.update_if(
            {schema.PARTITION: schema.feed_posts_key(installation_id), schema.SORT: at[:MINUTE]},
            add={"posts": posts},
            fill={schema.EXPIRY: times.expiry(at, KEPT_DAYS)},
            condition=BELOW_LIMIT,
            given={"most": self.most_per_minute},
        )
        return counted is not None
