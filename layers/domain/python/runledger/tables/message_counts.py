"""How many messages an installation gets, counted by the hour: `PK = {installation}#hours#all`, `SK = {hour}`.

All installations share the router and the senders, and each message costs money. One installation may have a hundred
subscriptions, which turn each event that it posts into a hundred messages.
"""

from typing import TYPE_CHECKING

from runledger.model import times
from runledger.tables import schema
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEPT_DAYS = 2
HOUR = len("2025-01-15T10")
BELOW_LIMIT = "attribute_not_exists(#messages) OR #messages < :most"


class MessageCounts:
    def __init__(self, client: "DynamoDBClient", name: str, *, most_per_hour: int) -> None:
        self._table = Table(client, name, label="notifications")
        self.most_per_hour = most_per_hour

    def count(self, installation_id: int, number: int, *, at: str) -> bool:
        """False, without counting them, if the installation has reached its limit for this hour.

        The messages of one event are counted together, so the last event may exceed the limit.
        """
        counted = self._table.update_if(
            {schema.PARTITION: schema.hours_key(installation_id, schema.ALL), schema.SORT: at[:HOUR]},
            add={"messages": number},
            fill={schema.EXPIRY: times.expiry(at, KEPT_DAYS)},
            condition=BELOW_LIMIT,
            given={"most": self.most_per_hour},
        )
        return counted is not None
