"""workflow_jobs for the API: pages of jobs, single jobs, and completed jobs for statistics."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from runledger.model.completed_job import CompletedJob
from runledger.model.inputs import Status
from runledger.model.keys import RunKey
from runledger.tables import schema
from runledger.tables.attributes import Attributes, from_attributes
from runledger.tables.pages import ALWAYS, Item, Key, Page, Partition, Span
from runledger.tables.table import MOST_IN_A_BATCH, Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

HasTime = Callable[[], bool]
MEASURED = (schema.PARTITION, schema.BY_COMPLETION.sort, *schema.BY_COMPLETION.include)
QUEUE = "overall_queue_duration_in_ms"
MOST_SEARCHED = 2000  # jobs that one page reads while it looks for matches


class JobPages:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._table = Table(client, name)

    def in_status(self, installation_id: int, status: Status) -> Partition:
        return self._partition(schema.BY_STATUS, schema.status_key(installation_id, status))

    def of_repo(self, installation_id: int, repo_full_name: str) -> Partition:
        return self._partition(schema.BY_REPO, schema.repo_key(installation_id, repo_full_name))

    def of_run(self, run: RunKey) -> Partition:
        return self._partition(schema.BY_RUN, schema.run_key(run))

    def page(
        self,
        partition: Partition,
        span: Span,
        *,
        newest_first: bool,
        limit: int,
        start: Key | None,
        matches: Callable[[Item], bool] = lambda _job: True,
    ) -> Page[Item]:
        """Reads keys from the index, then the jobs. A job that has left the index in between is omitted.

        `next_key` is set only if there is another match, or if the search stopped after MOST_SEARCHED jobs.
        """
        index = partition.index
        assert index is not None
        found, searched, at_once = list[Item](), 0, limit + 1
        while True:
            keys = self._table.page(partition, span, newest_first=newest_first, limit=at_once, start=start)
            for job in map(from_attributes, self._table.follow(keys.items)):
                if job.get(index.partition) != partition.value or not matches(job):
                    continue
                if len(found) == limit:
                    return Page(items=found, next_key=_key(found[-1], index))
                found.append(job)
            searched += at_once
            start, at_once = keys.next_key, max(at_once, MOST_IN_A_BATCH)  # matches are rare
            if start is None or searched >= MOST_SEARCHED:
                return Page(items=found, next_key=start)

    def newest(self, partition: Partition, span: Span, *, at_most: int) -> Page[Item]:
        return self.page(partition, span, newest_first=True, limit=at_most, start=None)

    def every(self, partition: Partition, *, has_time: HasTime) -> tuple[list[Item], bool]:
        """The jobs of the partition, oldest first, and whether time ran out before the last."""
        found, start, index = list[Item](), None, partition.index
        assert index is not None
        while True:
            keys = self._table.page(partition, newest_first=False, limit=MOST_IN_A_BATCH, start=start)
            jobs = map(from_attributes, self._table.follow(keys.items))
            found += (job for job in jobs if job.get(index.partition) == partition.value)
            start = keys.next_key
            if start is None or not has_time():
                return found, start is not None

    def count(self, partition: Partition, span: Span = ALWAYS) -> int:
        return self._table.count(partition, span)

    def get(self, installation_id: int, job_id: int) -> Item | None:
        return self.among([(installation_id, job_id)]).get((installation_id, job_id))

    def among(self, wanted: Iterable[tuple[int, int]]) -> Mapping[tuple[int, int], Item]:
        """By installation and job. Missing jobs are omitted."""
        keys = {(schema.job_key(*each), schema.ONLY): each for each in wanted}
        found = self._table.by_key(keys)
        return {keys[key]: from_attributes(item) for key, item in found.items()}

    def completed(self, installation_id: int) -> Partition:
        return self._partition(schema.BY_COMPLETION, schema.completion_key(installation_id))

    def completed_jobs(
        self,
        installation_id: int,
        span: Span,
        *,
        repo_full_name: str | None = None,
        created_before: str | None = None,
    ) -> Iterator[list[CompletedJob]]:
        """Jobs that completed within the span, a page of the index at a time, newest first."""
        where = {"repo_full_name": repo_full_name} if repo_full_name else None
        below = {"created_at": created_before} if created_before else None
        partition = self.completed(installation_id)
        for items in self._table.stream(partition, span, attributes=MEASURED, where=where, below=below):
            yield [_completed(item) for item in items]

    def _partition(self, index: schema.Index, value: str) -> Partition:
        return Partition(index=index, value=value)


def _key(job: Item, index: schema.Index) -> Key:
    return {name: str(job[name]) for name in (schema.PARTITION, schema.SORT, index.partition, index.sort)}


def _completed(item: Attributes) -> CompletedJob:
    """Reads each attribute directly: statistics read 100,000 of these, and a general deserialiser takes longer."""
    job_id = item[schema.PARTITION]["S"].partition("#")[2]

    def text(name: str) -> str | None:
        return item[name]["S"] if name in item else None

    def number(name: str) -> str | None:
        return item[name]["N"] if name in item else None

    dollars, saved, queue = (number(name) for name in ("usage_in_dollars", "saved_in_dollars", QUEUE))
    return CompletedJob(
        job_id=int(job_id),
        created_at=item["created_at"]["S"],
        completed_at=item["completed_at"]["S"],
        conclusion=text("conclusion"),
        started_at=text("started_at"),
        repo_full_name=text("repo_full_name"),
        workflow_name=text("workflow_name"),
        job_name=text("job_name"),
        pool_name=text("pool_name"),
        instance_type=text("instance_type"),
        lifecycle=text("instance_lifecycle"),
        seconds=int(number("usage_in_seconds") or 0),
        dollars=Decimal(dollars) if dollars is not None else None,
        saved=Decimal(saved) if saved is not None else None,
        queue_ms=int(queue) if queue is not None else None,
        interrupted="was_interrupted" in item and bool(item["was_interrupted"]["BOOL"]),
    )
