"""The feed: its queue, its table and its writer. Only functions that write or read the feed load this."""

from collections.abc import Mapping
from functools import cache

from runledger.feeds.events import ALL_TYPES
from runledger.feeds.queue import FeedQueue
from runledger.feeds.writer import FeedWriter, Payloads
from runledger.model.dataclass import dataclass
from runledger.platform.clients import client, lazy_client
from runledger.platform.clock import SystemClock
from runledger.platform.discarded import DiscardedRecords
from runledger.tables import schema
from runledger.tables.feed import FeedTable
from runledger.tables.request_counts import RequestCounts
from runledger.wiring.settings import MissingSetting, Settings, TableSettings, names_in, open_table, parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedQueueSettings(Settings):
    """Read by functions that send feed events. Without a queue, the feed is off."""

    feed_queue: str = ""
    feed_types: tuple[str, ...] = parsed(names_in, default=ALL_TYPES)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedStreamSettings(Settings):
    """The tables whose streams are read, and the queue for records that can't be translated."""

    jobs_table: str
    job_events_table: str
    runs_table: str
    deployments_table: str
    runners_table: str
    feed_stream_dead_letters: str
    releases_table: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPayloadSettings(Settings):
    feed_bucket: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPostSettings(Settings):
    feed_posts_per_minute: int


@cache
def queue() -> FeedQueue | None:
    """None if the feed is off."""
    settings = FeedQueueSettings.from_environment()
    if not settings.feed_queue:
        return None
    return FeedQueue(sqs=lazy_client("sqs"), url=settings.feed_queue, types=settings.feed_types)


def required_queue() -> FeedQueue:
    """For functions that exist only with the feed."""
    found = queue()
    if found is None:
        raise MissingSetting("FEED_QUEUE")
    return found


@cache
def streamed_tables() -> Mapping[str, str]:
    """Maps physical table names to names in the schema."""
    settings = FeedStreamSettings.from_environment()
    return {
        settings.jobs_table: schema.WORKFLOW_JOBS.name,
        settings.job_events_table: schema.WORKFLOW_JOB_EVENTS.name,
        settings.runs_table: schema.WORKFLOW_RUNS.name,
        settings.deployments_table: schema.DEPLOYMENTS.name,
        settings.runners_table: schema.RUNNERS.name,
        **({settings.releases_table: schema.RELEASES.name} if settings.releases_table else {}),
    }


@cache
def discarded_records() -> DiscardedRecords:
    url = FeedStreamSettings.from_environment().feed_stream_dead_letters
    return DiscardedRecords(sqs=lazy_client("sqs"), url=url)


@cache
def table() -> FeedTable:
    return open_table(FeedTable, "FEED")


@cache
def posts() -> RequestCounts:
    most = FeedPostSettings.from_environment().feed_posts_per_minute
    return RequestCounts(client("dynamodb"), TableSettings.of("FEED").table, label="feed", most_per_minute=most)


@cache
def payloads() -> Payloads:
    return Payloads(s3=lazy_client("s3"), bucket=FeedPayloadSettings.from_environment().feed_bucket)


@cache
def writer() -> FeedWriter:
    return FeedWriter(table=table(), payloads=payloads(), now=SystemClock().text)
