"""workflow_job_events: the history. An event is replaced only by a later decision on the same receipt."""

import dataclasses
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from runledger.model import times
from runledger.model.job import Event
from runledger.platform.availability import reaching
from runledger.tables import schema
from runledger.tables.attributes import Attributes, is_condition_failure, to_attributes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ABSENT = "attribute_not_exists(PK)"
# The decision with the highest version was saved; a process that lost the race may write its older one later.
NOT_NEWER = f"{ABSENT} OR #version <= :version"
FIELDS = tuple(field.name for field in dataclasses.fields(Event) if field.name != "short_id")
_fields = attrgetter(*FIELDS)


class EventsTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._client = client
        self._name = name
        self._retention_days = retention_days

    @reaching("workflow_job_events")
    def put(self, event: Event) -> None:
        """The key is derived from the receipt: a repetition changes nothing."""
        self._put_if(
            event,
            ConditionExpression=NOT_NEWER,
            ExpressionAttributeNames={"#version": "version"},
            ExpressionAttributeValues={":version": {"N": str(event.version)}},
        )

    @reaching("workflow_job_events")
    def put_if_new(self, event: Event) -> bool:
        """False if the event exists: a provisional decision must not replace it."""
        return self._put_if(event, ConditionExpression=ABSENT)

    def _put_if(self, event: Event, **condition: Any) -> bool:
        try:
            self._client.put_item(TableName=self._name, Item=self._item(event), **condition)
        except ClientError as error:
            if is_condition_failure(error):
                return False
            raise
        return True

    def _item(self, event: Event) -> Attributes:
        return to_attributes(
            {
                schema.PARTITION: schema.job_key(event.installation_id, event.job_id),
                schema.SORT: f"{event.timestamp}#{event.event_type}#{event.short_id}",
                **dict(zip(FIELDS, _fields(event), strict=True)),
                schema.EXPIRY: times.expiry(event.timestamp, self._retention_days),
            }
        )
