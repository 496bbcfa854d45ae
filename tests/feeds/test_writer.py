"""The writer: each event once and at the end of the feed, whatever crashes, fails, repeats or lags."""

from itertools import pairwise
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from runledger.feeds import queue
from runledger.feeds.writer import LARGEST_IN_TABLE, Payloads
from runledger.model.errors import UnavailableError
from runledger.tables.feed import written_at

from tests.feeds.streams import ALL_TABLES, Pipeline, feed_of, ids, positions, some_events, some_id, ticking
from tests.simulation.engine import Engine
from tests.simulation.explore import Flow, crash_points, fault_points
from tests.simulation.world import Process, World
from tests.support.beds import KEEP_SESSION

SCOPE = 7
DOWN: Any = {"Error": {"Code": "SlowDown"}, "ResponseMetadata": {"HTTPStatusCode": 503}}


class FeedWorld(World):
    def __init__(self) -> None:
        super().__init__()
        self.engine = Engine(ALL_TABLES)
        self.engine.lag = self._lag
        self.services["dynamodb"] = self.engine


def writing(*events: Any) -> Flow:
    def flow(process: Process) -> None:
        world = process.world
        pipeline = Pipeline(
            world.client("dynamodb"), now=lambda: f"2025-01-15T10:00:0{min(world.clock.seconds, 9):.0f}.000Z"
        )
        pipeline.writer.write(events)

    return flow


@pytest.mark.parametrize("points", [crash_points, fault_points])
def test_a_writer_that_dies_or_fails_anywhere_and_is_repeated_writes_each_event_once_in_order(points: Any) -> None:
    events = some_events(3)
    outcomes = list(points(FeedWorld(), writing(*events)))
    assert len(outcomes) > 10
    for outcome in outcomes:
        written = [item for (key, _), item in sorted(outcome.tables["feed"].items()) if key == str(SCOPE)]
        assert ids(written) == [each.event_id for each in events], outcome.story()


def test_an_event_whose_writer_died_never_lands_behind_a_later_event() -> None:
    """The message may be repeated after days, from the dead-letter queue: consumers have passed its old position."""
    first, second = some_events(2)
    moved = 0
    for outcome in crash_points(FeedWorld(), writing(first), recover=writing(second)):
        world = FeedWorld()
        world.engine.storage._items = {name: dict(items) for name, items in outcome.tables.items()}
        before = feed_of(world.engine, SCOPE)
        Pipeline(world.engine, now=lambda: "2025-01-15T09:00:00.000Z").writer.write([first])
        after = feed_of(world.engine, SCOPE)
        assert positions(after)[: len(before)] == positions(before)
        assert sorted(ids(after)) == sorted(each.event_id for each in ([first, second] if len(after) > 1 else [first]))
        moved += len(after) > len(before)
    assert moved


def test_positions_grow_even_if_the_clock_of_the_next_writer_is_behind() -> None:
    engine = Engine(ALL_TABLES)
    events = some_events(6)
    Pipeline(engine, now=lambda: "2025-01-15T10:00:05.000Z").writer.write(events[:3])
    Pipeline(engine, now=lambda: "2025-01-15T10:00:01.000Z").writer.write(events[3:])
    found = feed_of(engine, SCOPE)
    assert ids(found) == [each.event_id for each in events]
    assert all(written_at(a) < written_at(b) for a, b in pairwise(positions(found)))


def test_a_lagging_replica_hides_no_event_from_the_next_writer_or_a_consumer() -> None:
    engine, (first, second) = Engine(ALL_TABLES), some_events(2)
    engine.lag = lambda _operation, _table: 2  # a mark and an event
    Pipeline(engine, now=lambda: "2025-01-15T10:00:05.000Z").writer.write([first])
    Pipeline(engine, now=lambda: "2025-01-15T10:00:01.000Z").writer.write([second])
    read = Pipeline(engine).table.after(SCOPE, None, limit=10).items
    assert [each["event_id"] for each in read] == [first.event_id, second.event_id]


def test_repeated_split_and_merged_messages_write_nothing_twice() -> None:
    engine, events = Engine(ALL_TABLES), some_events(5)
    writer = Pipeline(engine, now=ticking()).writer
    assert (writer.write(events[:3]).new, writer.write(events[1:4]).repeated) == (3, 2)
    assert writer.write(events).repeated == 4
    assert ids(feed_of(engine, SCOPE)) == [each.event_id for each in events]


def test_installations_are_separate_even_with_the_same_event_ids() -> None:
    engine = Engine(ALL_TABLES)
    for scope in (1, 11, 111):
        Pipeline(engine).writer.write(some_events(2, installation_id=scope))
    assert ids(feed_of(engine, 1)) == [some_id(1, 0), some_id(1, 1)]
    assert ids(feed_of(engine, 11)) == [some_id(11, 0), some_id(11, 1)]


def test_a_payload_over_64_kb_is_in_s3_and_the_item_has_its_key() -> None:
    engine = Engine(ALL_TABLES)
    with mock_aws(config=KEEP_SESSION):
        s3 = boto3.client("s3")
        s3.create_bucket(Bucket="a-bucket")
        pipeline = Pipeline(engine, s3=s3)
        pipeline.writer.write(some_events(1, payload="x" * (LARGEST_IN_TABLE - 2)))
        pipeline.writer.write(some_events(1, installation_id=8, payload="x" * LARGEST_IN_TABLE))
        small, large = feed_of(engine, SCOPE)[0], feed_of(engine, 8)[0]
        assert "payload" in small
        assert "payload" not in large
        assert Payloads(s3=s3, bucket="a-bucket").get(large["payload_key"]["S"]) == f'"{"x" * LARGEST_IN_TABLE}"'


def test_without_its_bucket_a_large_event_is_retried_and_not_lost() -> None:
    engine = Engine(ALL_TABLES)
    large = some_events(1, payload="x" * (LARGEST_IN_TABLE + 1))

    class Down:
        def put_object(self, **_: object) -> None:
            raise ClientError(DOWN, "PutObject")

    class Up:
        def put_object(self, **_: object) -> None:
            pass

    with pytest.raises(UnavailableError):
        Pipeline(engine, s3=Down()).writer.write(large)
    assert feed_of(engine, SCOPE) == []
    Pipeline(engine, s3=Up()).writer.write(large)
    assert ids(feed_of(engine, SCOPE)) == [large[0].event_id]


def test_messages_hold_as_many_events_as_fit_in_their_order() -> None:
    events = some_events(120) + some_events(3, installation_id=8, payload="y" * 100_000)
    bodies = [*queue.bodies(events[:120]), *queue.bodies(events[120:])]
    assert [len(queue.read(each)) for each in bodies] == [50, 50, 20, 2, 1]
    assert [event for each in bodies for event in queue.read(each)] == events


def test_small_events_after_large_ones_share_a_message() -> None:
    events = some_events(3, payload="y" * 100_000) + some_events(20)
    assert [len(queue.read(each)) for each in queue.bodies(events)] == [2, 21]
