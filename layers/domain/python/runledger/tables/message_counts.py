"""How many messages an installation gets, counted by the hour: `PK = {installation}#hours#all`, `SK = {hour}`.

All installations share the router and the senders, and each message costs money. One installation may have a hundred
subscriptions, which turn each event that it posts into a hundred messages.
"""

from typing import TYPE_CHECKING

from runledger.model import times
from runledger.tables import rate_limits, schema
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEPT_DAYS = 2


class MessageCounts:
    def __init__(self, client: "DynamoDBClient", name: str, *, most_per_hour: int) -> None:
        self._table = Table(client, name, label="notifications")
        self.most_per_hour = most_per_hour

    def count(self, installation_id: int, number: int, *, at: str) -> bool:
        """False, without counting them, if the installation has reached its limit for this hour.

        The messages of one event are counted together, so the last event may exceed the limit.
        """
        return rate_limits.count(
            self._table,
            schema.hours_key(installation_id, schema.ALL),
            "messages",
            period=times.hour_of(at),
            at=at,
            most=self.most_per_hour,
            number=number,
            kept_days=KEPT_DAYS,
        )
