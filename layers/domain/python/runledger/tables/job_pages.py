"""workflow_jobs for the API: pages of jobs, single jobs, and what statistics need from the index alone."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from runledger.model.inputs import Status
from runledger.model.job_line import JobLine
from runledger.platform.availability import reaching
from runledger.tables import schema
from runledger.tables.attributes import Attributes, from_attributes
from runledger.tables.pages import Key, Partition, Span, count, page, stream
from runledger.tables.reads import by_key

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Item = dict[str, Any]
MEASURED = (schema.PARTITION, schema.BY_REPO.sort, *schema.BY_REPO.include)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    jobs: list[Item]
    next_key: Key | None


class JobPages:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._client = client
        self._name = name

    def in_status(self, installation_id: int, status: Status) -> Partition:
        return self._partition(schema.BY_STATUS, schema.status_key(installation_id, status))

    def of_repo(self, installation_id: int, repo_full_name: str) -> Partition:
        return self._partition(schema.BY_REPO, schema.repo_key(installation_id, repo_full_name))

    def of_run(self, installation_id: int, run_id: int, run_attempt: int) -> Partition:
        return self._partition(schema.BY_RUN, schema.run_key(installation_id, run_id, run_attempt))

    def page(self, partition: Partition, span: Span, *, newest_first: bool, limit: int, start: Key | None) -> JobPage:
        """Keys from the index, then jobs by their keys. A job that has left the index meanwhile is omitted."""
        found = page(self._client, partition, span, newest_first=newest_first, limit=limit, start=start)
        jobs = self._jobs(found.items)
        index = partition.index
        assert index is not None
        return JobPage(
            jobs=[job for job in jobs if job.get(index.partition) == partition.value], next_key=found.next_key
        )

    def newest(self, partition: Partition, span: Span, *, at_most: int) -> JobPage:
        return self.page(partition, span, newest_first=True, limit=at_most, start=None)

    def count(self, partition: Partition, span: Span) -> int:
        return count(self._client, partition, span)

    def get(self, installation_id: int, job_id: int) -> Item | None:
        return self.among([(installation_id, job_id)]).get((installation_id, job_id))

    def among(self, wanted: Iterable[tuple[int, int]]) -> Mapping[tuple[int, int], Item]:
        """By installation and job. Missing jobs are omitted."""
        keys = {(schema.job_key(*each), schema.ONLY): each for each in wanted}
        with reaching(self._name):
            found = by_key(self._client, self._name, keys)
        return {keys[key]: from_attributes(item) for key, item in found.items()}

    def lines(self, partition: Partition, span: Span) -> Iterator[list[JobLine]]:
        """What statistics need of a repository's jobs, a page of the index at a time."""
        for items in stream(self._client, partition, span, attributes=MEASURED):
            yield [_line(item) for item in items]

    def _partition(self, index: schema.Index, value: str) -> Partition:
        return Partition(table=self._name, index=index, value=value)

    def _jobs(self, indexed: Iterable[Attributes]) -> list[Item]:
        keys = [(item[schema.PARTITION]["S"], item[schema.SORT]["S"]) for item in indexed]
        with reaching(self._name):
            found = by_key(self._client, self._name, keys)
        return [from_attributes(found[key]) for key in keys if key in found]


def _line(item: Attributes) -> JobLine:
    """By hand: for 100,000 jobs, boto3's deserialiser would take longer than everything else together."""
    job_id = item[schema.PARTITION]["S"].partition("#")[2]
    return JobLine(
        job_id=int(job_id),
        created_at=item["created_at"]["S"],
        workflow_name=item["workflow_name"]["S"] if "workflow_name" in item else None,
        job_name=item["job_name"]["S"] if "job_name" in item else None,
        conclusion=item["conclusion"]["S"] if "conclusion" in item else None,
        seconds=int(item["usage_in_seconds"]["N"]) if "usage_in_seconds" in item else 0,
        dollars=Decimal(item["usage_in_dollars"]["N"]) if "usage_in_dollars" in item else None,
        saved=Decimal(item["saved_in_dollars"]["N"]) if "saved_in_dollars" in item else None,
        queue_ms=int(item["overall_queue_duration_in_ms"]["N"]) if "overall_queue_duration_in_ms" in item else None,
        interrupted="was_interrupted" in item and bool(item["was_interrupted"]["BOOL"]),
    )
