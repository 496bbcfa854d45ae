"""notifications: subscriptions, and the installations that have some.

PK                               SK
{installation}#subscriptions     {subscription}    a subscription
subscribers                      {installation}    an installation that has or had a subscription, for schedules
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from runledger.tables import schema
from runledger.tables.attributes import from_attributes, is_condition_failure, to_attributes
from runledger.tables.pages import Partition
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SAME_VERSION = "#version = :read_version"


class SubscriptionsTable:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._table = Table(client, name, label="notifications")

    def all(self, installation_id: int) -> list[dict[str, Any]]:
        """Sorted by id. An installation has at most a hundred: see `notifications.administration`."""
        partition = Partition(value=schema.subscriptions_key(installation_id))
        return list(map(from_attributes, self._table.items(partition, consistent=True)))

    def get(self, installation_id: int, subscription_id: str) -> dict[str, Any] | None:
        return self._table.read(_key(installation_id, subscription_id))

    def create(self, subscription: Mapping[str, Any]) -> None:
        """Registers the installation first: otherwise, its schedules would be missed."""
        installation_id = subscription["installation_id"]
        self._table.put(to_attributes({schema.PARTITION: schema.SUBSCRIBERS, schema.SORT: str(installation_id)}))
        # It may exist: the SDK repeats a write whose response was lost.
        self._table.put_if_absent({**_key(installation_id, subscription["subscription_id"]), **subscription})

    def replace(self, subscription: Mapping[str, Any], *, read_version: int) -> bool:
        """False if another caller changed or deleted it since it was read."""
        item = {**_key(subscription["installation_id"], subscription["subscription_id"]), **subscription}
        try:
            self._table.put(
                to_attributes(item),
                ConditionExpression=SAME_VERSION,
                ExpressionAttributeNames={"#version": "version"},
                ExpressionAttributeValues=to_attributes({":read_version": read_version}),
            )
        except ClientError as error:
            if is_condition_failure(error):
                return False
            raise
        return True

    def delete(self, installation_id: int, subscription_id: str) -> None:
        self._table.delete(_key(installation_id, subscription_id))

    def subscribers(self) -> list[int]:
        found = self._table.items(Partition(value=schema.SUBSCRIBERS))
        return [int(item[schema.SORT]["S"]) for item in found]


def _key(installation_id: int, subscription_id: str) -> dict[str, str]:
    return {schema.PARTITION: schema.subscriptions_key(installation_id), schema.SORT: subscription_id}
