"""workflow_job_events for the API: the history of a job, or a part of it."""

from typing import TYPE_CHECKING

from runledger.tables import schema
from runledger.tables.attributes import from_attributes
from runledger.tables.pages import Item, Key, Page, Partition, Span
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class EventPages:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._table = Table(client, name)

    def page(
        self,
        installation_id: int,
        job_id: int,
        span: Span,
        *,
        newest_first: bool,
        limit: int,
        start: Key | None = None,
    ) -> Page[Item]:
        history = Partition(value=schema.job_key(installation_id, job_id))
        found = self._table.page(history, span, newest_first=newest_first, limit=limit, start=start)
        return Page(items=[from_attributes(item) for item in found.items], next_key=found.next_key)
