"""The streams of the tables in memory, and the way of their records to the feed: batches, queue and writer."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from runledger.feeds import queue, stream
from runledger.feeds.events import FeedEvent
from runledger.feeds.queue import FeedQueue
from runledger.feeds.writer import FeedWriter, Payloads
from runledger.model import times
from runledger.tables import schema
from runledger.tables.feed import FeedTable

from tests.simulation.engine import Engine
from tests.simulation.storage import key_values

Record = dict[str, Any]
FEED = schema.FEED.name
TABLES = {table.name: table.name for table in (*schema.TABLES, schema.RELEASES)}
ALL_TABLES = (*schema.TABLES, *schema.OPTIONAL)


def record_changes(engine: Engine) -> list[Record]:
    """Every change from now on, as DynamoDB Streams reports it."""
    records: list[Record] = []
    write = engine.storage.write

    def recording(table: str, key: Any, item: Any) -> None:
        before = engine.storage.get(table, key)
        write(table, key, item)
        if table != FEED and item != before:
            records.append(_record(len(records), table, before, item, key))

    engine.storage.write = recording  # type: ignore[method-assign]
    return records


def _record(number: int, table: str, before: Any, after: Any, key: Any) -> Record:
    name = "REMOVE" if after is None else "MODIFY" if before else "INSERT"
    images = {"OldImage": before, "NewImage": after}
    return {
        "eventID": f"e{number}",
        "eventName": name,
        "eventSourceARN": f"arn:aws:dynamodb:us-east-1:000000000000:table/{table}/stream/2025-01-15T10:00:00.000",
        "dynamodb": {
            "SequenceNumber": str(number),
            "Keys": key_values(key),
            **{image: item for image, item in images.items() if item is not None},
        },
    }


class Fifo:
    """SQS FIFO: keeps the order of each group, and drops what it has received before."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, str]] = []
        self.seen: set[str] = set()

    def send_message(self, **message: str) -> dict[str, str]:
        if message["MessageDeduplicationId"] not in self.seen:
            self.seen.add(message["MessageDeduplicationId"])
            self.messages.append((message["MessageGroupId"], message["MessageBody"]))
        return {}


@dataclass
class Pipeline:
    """The way of records to the feed. The caller can disturb each part."""

    client: Any
    sqs: Any = field(default_factory=Fifo)
    s3: Any = None
    discarded: list[Any] = field(default_factory=list)
    now: Callable[[], str] = lambda: "2025-01-15T12:00:00.000Z"

    @property
    def queue(self) -> FeedQueue:
        return FeedQueue(sqs=self.sqs, url="feed.fifo")

    @property
    def table(self) -> FeedTable:
        return FeedTable(self.client, FEED, retention_days=30)

    @property
    def writer(self) -> FeedWriter:
        return FeedWriter(table=self.table, payloads=Payloads(s3=self.s3, bucket="a-bucket"), now=self.now)

    def forward(self, records: list[Record]) -> Any:
        return stream.forward(records, tables=TABLES, send=self.queue.send, discard=self.discarded.append)

    def drain(self) -> None:
        while self.sqs.messages:
            _, body = self.sqs.messages[0]
            self.writer.write(queue.read(body))
            self.sqs.messages.pop(0)


def feed_of(engine: Engine, installation_id: int) -> list[dict[str, Any]]:
    """The events, in order."""
    items = engine.snapshot().items[FEED].items()
    return [
        dict(item)
        for (partition, _), item in sorted(items, key=lambda each: each[0])
        if partition == str(installation_id)
    ]


def ids(items: Iterable[dict[str, Any]]) -> list[str]:
    return [item["event_id"]["S"] for item in items]


def types(items: Iterable[dict[str, Any]]) -> list[str]:
    return [item["event_type"]["S"] for item in items]


def positions(items: Iterable[dict[str, Any]]) -> list[str]:
    return [item["SK"]["S"] for item in items]


def some_id(installation_id: int, number: int) -> str:
    return f"{installation_id:016x}{number:016x}"


def some_events(number: int, *, installation_id: int = 7, payload: Any = None) -> list[FeedEvent]:
    return [
        FeedEvent(
            installation_id=installation_id,
            event_id=some_id(installation_id, each),
            event_type="job.queued",
            occurred_at="2025-01-15T10:00:00.000Z",
            subject=f"jobs/{each}",
            origin="workflow_jobs",
            payload={"job_id": each} if payload is None else payload,
        )
        for each in range(number)
    ]


def ticking(start_ms: int = 1_736_942_400_000, *, step_ms: int = 1000) -> Callable[[], str]:
    instants: Iterator[int] = count(start_ms, step_ms)
    return lambda: times.from_epoch_ms(next(instants))
