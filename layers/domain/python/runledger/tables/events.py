"""workflow_job_events: what happened. Lines are put, never changed by anybody but a retry of the same receipt."""

import dataclasses
from operator import attrgetter
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from runledger import times
from runledger.model import Event
from runledger.tables import schema
from runledger.tables.attributes import Attributes, is_refusal, reaching, to_attributes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NOTHING_THERE = "attribute_not_exists(PK)"
FIELDS = tuple(each.name for each in dataclasses.fields(Event) if each.name != "short_id")
_fields = attrgetter(*FIELDS)


class EventsTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._client = client
        self._name = name
        self._retention_days = retention_days

    @reaching("workflow_job_events")
    def put(self, event: Event) -> None:
        """The key follows from the receipt alone, so doing it again changes nothing."""
        self._client.put_item(TableName=self._name, Item=self._item(event))

    @reaching("workflow_job_events")
    def put_if_new(self, event: Event) -> bool:
        """False if a line stands there already: then it may be the true one, and a guess must not replace it."""
        try:
            self._client.put_item(TableName=self._name, Item=self._item(event), ConditionExpression=NOTHING_THERE)
        except ClientError as error:
            if is_refusal(error):
                return False
            raise
        return True

    def _item(self, event: Event) -> Attributes:
        return to_attributes(
            {
                schema.PARTITION: f"{event.installation_id}#{event.job_id}",
                schema.SORT: f"{event.timestamp}#{event.event_type}#{event.short_id}",
                **dict(zip(FIELDS, _fields(event), strict=True)),
                schema.EXPIRY: times.expiry(event.timestamp, self._retention_days),
            }
        )
