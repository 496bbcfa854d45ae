"""workflow_job_events: the history. An event is replaced only by a later decision on the same receipt."""

import dataclasses
from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from runledger.model import times
from runledger.model.inputs import MACHINE_MESSAGES, Event, EventType, Source, Status
from runledger.model.job import Job
from runledger.tables import schema
from runledger.tables.attributes import Attributes, from_attributes, is_condition_failure, to_attributes
from runledger.tables.pages import Partition
from runledger.tables.table import Table
from runledger.tables.updates import ABSENT

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# The decision with the highest version was saved; a process that lost the race may write its older one later.
NOT_NEWER = f"{ABSENT} OR #version <= :version"
AS_READ = "#version = :version"
FIELDS = tuple(field.name for field in dataclasses.fields(Event) if field.name != "short_id")
_fields = attrgetter(*FIELDS)


class EventsTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._table = Table(client, name, label="workflow_job_events")
        self._retention_days = retention_days

    def put(self, event: Event) -> None:
        """The key is derived from the receipt: a repetition changes nothing."""
        self._put_if(event, **_versioned(NOT_NEWER, event.version))

    def put_if_new(self, event: Event) -> bool:
        """False if the event exists: a provisional decision must not replace it."""
        return self._put_if(event, ConditionExpression=ABSENT)

    def changes_by_machines(self, installation_id: int, job_id: int) -> list[Event]:
        """The events about machines that have changes."""
        items = self._items(installation_id, job_id)
        return [_event(item) for item in items if item["event_type"] in MACHINE_MESSAGES and "changes" in item]

    def history(self, installation_id: int, job_id: int) -> list[Event]:
        """Every event that hasn't expired, in order of time."""
        return [_event(item) for item in self._items(installation_id, job_id)]

    def _items(self, installation_id: int, job_id: int) -> Iterator[dict[str, Any]]:
        history = Partition(value=schema.job_key(installation_id, job_id))
        return map(from_attributes, self._table.items(history, consistent=True))

    def remove_changes(self, event: Event, job: Job) -> None:
        """The changes were not saved. Does nothing if a later decision has replaced the event since it was read."""
        unchanged = dataclasses.replace(event, changes=None, status=job.status, version=job.version)
        self._put_if(unchanged, **_versioned(AS_READ, event.version))

    def _put_if(self, event: Event, **condition: Any) -> bool:
        try:
            self._table.put(self._item(event), **condition)
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


def _versioned(condition: str, version: int) -> dict[str, Any]:
    return {
        "ConditionExpression": condition,
        "ExpressionAttributeNames": {"#version": "version"},
        "ExpressionAttributeValues": {":version": {"N": str(version)}},
    }


def _event(item: dict[str, Any]) -> Event:
    known = {name: item.get(name) for name in FIELDS}
    known |= {
        "event_type": EventType(item["event_type"]),
        "source": Source(item["source"]),
        "status": Status(item["status"]),
        "short_id": item[schema.SORT].rpartition("#")[2],
    }
    return Event(**known)  # type: ignore[arg-type]
