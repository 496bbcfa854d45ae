"""Pages of the tables, on the real engine: exactly once, without a scan, and with the read units that it reports."""

import json
import threading
import tracemalloc
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from runledger.model import times
from runledger.model.inputs import Status
from runledger.queries import statistics_reader
from runledger.tables import schema
from runledger.tables.attributes import to_attributes
from runledger.tables.job_pages import JobPages
from runledger.tables.pages import Span
from runledger_api.read_units import ReadUnitMeter

from tests.support.beds import create_tables, delete_tables
from tests.support.synthesis import Templates

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REPO = "acme/monorepo"
BEGIN_MS = 1_736_935_200_000
SINCE, UNTIL = times.from_epoch_ms(BEGIN_MS), times.from_epoch_ms(BEGIN_MS + 30 * 86_400_000)
pytestmark = pytest.mark.walk


def item(job_id: int) -> dict[str, Any]:
    """A finished job a second, two of a kind at a time, because pages must not be cut by their instants."""
    return {
        "PK": f"1#{job_id}",
        "SK": "v",
        "installation_id": 1,
        "job_id": job_id,
        "status": Status.COMPLETED,
        "created_at": times.from_epoch_ms(BEGIN_MS + job_id // 2 * 1000),
        "by_status": f"1#{Status.COMPLETED}",
        "started_at": times.from_epoch_ms(BEGIN_MS + job_id // 2 * 1000),
        "completed_at": times.from_epoch_ms(BEGIN_MS + job_id // 2 * 1000 + 60_000),
        "by_repo": f"1#{REPO}",
        "by_completion": "1",
        "repo_full_name": REPO,
        "workflow_name": "Continuous integration",
        "job_name": f"test ({job_id % 40}, ubuntu-latest, arm64)",
        "conclusion": "failure" if job_id % 10 == 0 else "success",
        "usage_in_seconds": 60 + job_id % 600,
        "usage_in_dollars": times.MS_PER_SECOND,
        "overall_queue_duration_in_ms": 5000 + job_id % 60_000,
    }


def put(client: "DynamoDBClient", job_ids: range) -> None:
    write(client, [{"PutRequest": {"Item": to_attributes(item(job_id))}} for job_id in job_ids])


def delete(client: "DynamoDBClient", job_ids: range) -> None:
    write(client, [{"DeleteRequest": {"Key": to_attributes({"PK": f"1#{job_id}", "SK": "v"})}} for job_id in job_ids])


def write(client: "DynamoDBClient", requests: list[Any]) -> None:
    for first in range(0, len(requests), 25):
        batch = requests[first : first + 25]
        response = client.batch_write_item(RequestItems={schema.WORKFLOW_JOBS.name: batch})
        assert not response["UnprocessedItems"]


@pytest.fixture(scope="module")
def ten_thousand(dynamodb_local_url: str, templates: Templates) -> Iterator["DynamoDBClient"]:
    """Jobs that no test changes, in a region of their own: writing them takes longer than most tests."""
    client = boto3.client("dynamodb", endpoint_url=dynamodb_local_url, region_name="eu-west-1")
    create_tables(client, templates["data"])
    put(client, range(10_000))
    yield client
    delete_tables(client)
    client.close()


def walk(pages: JobPages, *, newest_first: bool) -> Iterator[int]:
    partition, start = pages.of_repo(1, REPO), None
    while True:
        page = pages.page(partition, Span(), newest_first=newest_first, limit=200, start=start)
        yield from (job["job_id"] for job in page.items)
        if (start := page.next_key) is None:
            return


@pytest.mark.parametrize("newest_first", [True, False])
def test_ten_thousand_jobs_are_each_seen_once_while_new_ones_arrive(
    ten_thousand: "DynamoDBClient", newest_first: bool
) -> None:
    new = range(10_000, 10_500)
    arriving = threading.Thread(target=put, args=(ten_thousand, new))
    seen = []
    for number, job_id in enumerate(walk(JobPages(ten_thousand, schema.WORKFLOW_JOBS.name), newest_first=newest_first)):
        if number == 1000:
            arriving.start()
        seen.append(job_id)
    arriving.join()
    delete(ten_thousand, new)
    before = [job_id for job_id in seen if job_id < 10_000]
    assert len(before) == len(set(before)) == 10_000
    assert len(seen) == len(set(seen))


def test_statistics_read_index_pages_and_no_job(ten_thousand: "DynamoDBClient") -> None:
    meter, pages = ReadUnitMeter(ten_thousand), JobPages(ten_thousand, schema.WORKFLOW_JOBS.name)
    found = statistics_reader.measure(
        pages, 1, repo_full_name=REPO, since=SINCE, until=UNTIL, now=UNTIL, has_time=lambda: True
    )
    assert (found["jobs"], found["by_conclusion"]) == (10_000, {"success": 9_000, "failure": 1_000})
    assert found["duration_seconds"]["count"] == 10_000
    # A page of the index is 1 MB at half a unit for 4 KB: less than a tenth of a unit a job.
    assert 0 < meter.units < 1000


def test_when_time_runs_out_the_result_is_marked(ten_thousand: "DynamoDBClient") -> None:
    pages = JobPages(ten_thousand, schema.WORKFLOW_JOBS.name)
    found = statistics_reader.measure(pages, 1, since=SINCE, until=UNTIL, now=UNTIL, has_time=lambda: False)
    assert found["truncated"] is True
    assert 0 < found["jobs"] < 10_000


def test_a_count_and_a_page_of_keys_cost_little(dynamodb_local: "DynamoDBClient") -> None:
    put(dynamodb_local, range(1_000))
    meter, pages = ReadUnitMeter(dynamodb_local), JobPages(dynamodb_local, schema.WORKFLOW_JOBS.name)
    assert pages.count(pages.in_status(1, Status.COMPLETED), Span()) == 1_000
    counted = meter.units
    meter.reset()
    pages.page(pages.of_repo(1, REPO), Span(), newest_first=True, limit=50, start=None)
    # Half a unit for each whole job, and the index on top.
    assert counted < 20
    assert 25 <= meter.units < 30


class LongIndex:
    """Serves pages of 1 MB, as the index of a repository with many jobs does. All of them hold the same jobs."""

    def __init__(self, pages: int, *, in_a_page: int) -> None:
        self._pages, self._in_a_page = pages, in_a_page
        self._page = ""
        self.read = 0

    def query(self, **arguments: Any) -> dict[str, Any]:
        if "ProjectionExpression" not in arguments:  # open jobs
            return {"Items": []}
        self._page = self._page or self._made({*arguments["ExpressionAttributeNames"].values()})
        self.read += 1
        more = {"LastEvaluatedKey": {"PK": {"S": str(self.read)}}} if self.read < self._pages else {}
        return {"Items": json.loads(self._page), **more}

    def _made(self, wanted: set[str]) -> str:
        jobs = ({name: value for name, value in item(n).items() if name in wanted} for n in range(self._in_a_page))
        return json.dumps([to_attributes(job) for job in jobs])


def peak_of_statistics(pages: int) -> int:
    index = LongIndex(pages, in_a_page=3_500)
    job_pages = JobPages(index, schema.WORKFLOW_JOBS.name)  # type: ignore[arg-type]
    tracemalloc.start()
    found = statistics_reader.measure(
        job_pages, 1, repo_full_name=REPO, since=SINCE, until=UNTIL, now=UNTIL, has_time=lambda: True
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found["jobs"], found["truncated"], index.read) == (pages * 3_500, False, pages)
    return peak


def test_the_memory_of_statistics_does_not_grow_with_the_number_of_jobs() -> None:
    short, long = peak_of_statistics(2), peak_of_statistics(7)
    # A page of raw items is most of it.
    assert short < 40_000_000
    assert long < short * 1.02
